package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/writ-kernel/writ/abi/wasm"
)

// headings lists the headings of a text as "level title", quoted ones in brackets.
func headings(text string) string {
	var all []string
	for _, s := range structure([]byte(text), noLimit).Segments {
		if s.Kind != wasm.SegmentHeading {
			continue
		}
		h := strconv.Itoa(s.Level)
		if s.Title != "" {
			h += " " + s.Title
		}
		if s.Role == wasm.RoleQuoted {
			h = "[" + h + "]"
		}
		all = append(all, h)
	}
	return strings.Join(all, " | ")
}

func TestHeadingsFollowCommonMark(t *testing.T) {
	for _, group := range []struct {
		name  string
		cases [][2]string // text, headings
	}{
		{"ATX: one to six marks", [][2]string{
			{"# oak\n## elm\n### ash\n#### fir\n##### yew\n###### box\n", "1 oak | 2 elm | 3 ash | 4 fir | 5 yew | 6 box"},
			{"####### oak\n", ""},
			{"#7 oak\n\n#oak\n", ""},
			{"\\## oak\n", ""},
			{"# oak *elm* \\*ash\\*\n", "1 oak *elm* \\*ash\\*"},
			{"#          oak            \n", "1 oak"},
			{"#\toak\t\n", "1 oak"},
			{"#\u00a0oak\n", ""},
			{"## \n#\n### ###\n", "2 | 1 | 3"},
			{"#", "1"},
			{"# oak", "1 oak"},
		}},
		{"ATX: indentation", [][2]string{
			{" ### oak\n  ## elm\n   # ash\n", "3 oak | 2 elm | 1 ash"},
			{"    # oak\n", ""},
			{"\t# oak\n", ""},
			{"oak\n    # elm\n", ""},
		}},
		{"ATX: closing marks", [][2]string{
			{"## oak ##\n  ###   elm    ###\n", "2 oak | 3 elm"},
			{"# oak ####################\n##### elm ##\n", "1 oak | 5 elm"},
			{"### oak ###     \n", "3 oak"},
			{"### oak ###\t\n", "3 oak"},
			{"### oak\t###\n", "3 oak"},
			{"### oak ### elm\n", "3 oak ### elm"},
			{"# oak#\n", "1 oak#"},
			{"### oak \\###\n## oak #\\##\n# oak \\#\n", "3 oak \\### | 2 oak #\\## | 1 oak \\#"},
		}},
		{"ATX: neighbours", [][2]string{
			{"****\n## oak\n****\n", "2 oak"},
			{"oak elm\n# ash\nelm oak\n", "1 ash"},
			{"## oak\nelm\n===\n", "2 oak | 1 elm"},
		}},
		{"setext: underlines", [][2]string{
			{"oak *elm*\n=========\n\noak *elm*\n---------\n", "1 oak *elm* | 2 oak *elm*"},
			{"oak *elm\nash*\n====\n", "1 oak *elm ash*"},
			{"  oak *elm\nash*\t\n====\n", "1 oak *elm ash*"},
			{"oak\n-----------------\n\noak\n=\n", "2 oak | 1 oak"},
			{"   oak\n---\n\n  oak\n-----\n\n  oak\n  ===\n", "2 oak | 2 oak | 1 oak"},
			{"    oak\n    ---\n\n    oak\n---\n", ""},
			{"oak\n   ----      \n", "2 oak"},
			{"oak\n    ---\n", ""},
			{"oak\n= =\n\noak\n--- -\n", ""},
			{"oak  \n-----\n", "2 oak"},
			{"oak\\\n----\n", "2 oak\\"},
			{"oak\n===\t\n", "1 oak"},
			{"oak\n===", "1 oak"},
		}},
		{"setext: blocks win over spans", [][2]string{
			{"`oak\n----\n`\n\n<a title=\"a row\n---\nof marks\"/>\n", "2 `oak | 2 <a title=\"a row"},
		}},
		{"setext: never by a lazy line", [][2]string{
			{"> oak\n---\n", ""},
			{"> oak\nelm\n===\n", ""},
			{"- oak\n---\n", ""},
			{"- oak\n-----\n", ""},
			{"> oak\n-----\n", ""},
		}},
		{"setext: what the underline ends", [][2]string{
			{"oak\nelm\n---\n", "2 oak elm"},
			{"\u2003\n---\noak\n---\nelm\n---\nash\n", "2 \u2003 | 2 oak | 2 elm"},
			{"\n====\n", ""},
			{"---\n---\n", ""},
			{"    oak\n---\n", ""},
			{"\\> oak\n------\n", "2 \\> oak"},
			{"oak\n\nelm\n---\nash\n", "2 elm"},
			{"oak\nelm\n\n---\n\nash\n", ""},
			{"oak\nelm\n* * *\nash\n", ""},
			{"oak\nelm\n\\---\nash\n", ""},
		}},
		{"fences: what they hold is no heading", [][2]string{
			{"```\n# no\n```\n# yes\n", "1 yes"},
			{"~~~\n# no\n~~~\n# yes\n", "1 yes"},
			{"``\n# yes\n``\n", "1 yes"},
			{"```\n# no\n~~~\n# no\n```\n# yes\n", "1 yes"},
			{"~~~\n# no\n```\n# no\n~~~\n# yes\n", "1 yes"},
			{"````\n# no\n```\n# no\n``````\n# yes\n", "1 yes"},
			{"~~~~\n# no\n~~~\n# no\n~~~~\n# yes\n", "1 yes"},
			{"```\n", ""},
			{"`````\n\n```\n# no\n", ""},
			{"> ```\n> # no\n\n# yes\n", "1 yes"},
			{"```\n\n  \n```\n# yes\n", "1 yes"},
			{"```\n```\n# yes\n", "1 yes"},
		}},
		{"fences: indentation", [][2]string{
			{" ```\n # no\n# no\n```\n# yes\n", "1 yes"},
			{"   ```\n   # no\n    # no\n  # no\n   ```\n# yes\n", "1 yes"},
			{"    ```\n# yes\n    ```\n", "1 yes"},
			{"```\n# no\n  ```\n# yes\n", "1 yes"},
			{"```\n# no\n    ```\n# no\n", ""},
			{"```\n# no\n\t```\n# no\n", ""},
		}},
		{"fences: info strings and closing", [][2]string{
			{"``` ```\n# yes\n", "1 yes"},
			{"~~~~~~\n# no\n~~~ ~~\n# no\n", ""},
			{"oak\n```\n# no\n```\n# yes\n", "1 yes"},
			{"oak\n---\n~~~\n# no\n~~~\n# yes\n", "2 oak | 1 yes"},
			{"~~~~    ruby n=3 $%@#$\n# no\n~~~~~~~\n# yes\n", "1 yes"},
			{"````;\n````\n# yes\n", "1 yes"},
			{"``` oak ```\n# yes\n", "1 yes"},
			{"~~~ oak ``` ~~~\n# no\n~~~\n# yes\n", "1 yes"},
			{"```\n``` oak\n# no\n```\n# yes\n", "1 yes"},
			{"```\n# no\n```\f\n# no\n", ""},
			{"```\n# no\n```\t \n# yes\n", "1 yes"},
		}},
		{"HTML: block tags up to a blank line", [][2]string{
			{"<table><tr><td>\n<pre>\n# no\n\n# yes\n", "1 yes"},
			{" <div>\n  # no\n         <oak><a>\n", ""},
			{"</div>\n# no\n", ""},
			{"<DIV CLASS=\"oak\">\n\n# yes\n\n</DIV>\n", "1 yes"},
			{"<div id=\"oak\"\n# no\n", ""},
			{"<div oak\n# no\n", ""},
			{"<div\toak\n# no\n", ""},
			{"<div *???-&&&-<---\n# no\n", ""},
			{"<div></div>\n# no\n", ""},
			{"<search>\n# no\n", ""},
			{"<source>\n# no\n", ""},
			{"<source x\n# yes\n", "1 yes"},
			{"oak\n<div>\n# no\n", ""},
			{"    <div>\n# yes\n", "1 yes"},
			{"> <div>\n> # no\n\n# yes\n", "1 yes"},
			{"- <div>\n- # yes\n", "1 yes"},
		}},
		{"HTML: any whole tag alone on its line", [][2]string{
			{"<a href=\"oak\">\n# no\n</a>\n", ""},
			{"<Warning>\n# no\n", ""},
			{"<i class=\"oak\" b='c' d=e f />\t\n# no\n", ""},
			{"</ins>\n# no\n", ""},
			{"<del>\n\n# yes\n", "1 yes"},
			{"<del>*oak*</del>\n# yes\n", "1 yes"},
			{"oak\n<a href=\"elm\">\n---\n", "2 oak <a href=\"elm\">"},
			{"</ oak>\n# yes\n", "1 yes"},
			{"<a b=>\n# yes\n", "1 yes"},
			{"<a b='c>\n# yes\n", "1 yes"},
			{"<a \"b\">\n# yes\n", "1 yes"},
			{"<oak>\u00a0\n# yes\n", "1 yes"},
			{"</script>\n# no\n", ""},
			{"<pre/>\n# yes\n", "1 yes"},
		}},
		{"HTML: raw text up to its closing tag", [][2]string{
			{"<pre lang=\"x\"><code>\n# no\n\n# no\n</code></pre>\n# yes\n", "1 yes"},
			{"<script type=\"x\">\n# no\n\n# no\n</script>\n# yes\n", "1 yes"},
			{"<textarea>\n\n# no\n\n</textarea>\n# yes\n", "1 yes"},
			{"<style\n  type=\"x\">\n# no\n\n# no\n", ""},
			{"<style>p{color:red;}</style>\n# yes\n", "1 yes"},
			{"<script>\n# no\n</script>1. oak\n# yes\n", "1 yes"},
			{"<script>\n# no\n</STYLE>\n# yes\n", "1 yes"},
			{"<script>\n</ script>\n# no\n", ""},
		}},
		{"HTML: instructions, declarations, CDATA", [][2]string{
			{"<?php\n\n# no\n\n?>\n# yes\n", "1 yes"},
			{"<!DOCTYPE html>\n# yes\n", "1 yes"},
			{"<!doctype html\n# no\n>\n# yes\n", "1 yes"},
			{"<![CDATA[\n# no\n\n# no\n]]>\n# yes\n", "1 yes"},
			{"<!1\n# yes\n", "1 yes"},
		}},
		{"HTML: comments", [][2]string{
			{"<!-- oak -->*elm*\n# yes\n", "1 yes"},
			{"<!-- oak\n\n# no\n   elm -->\n# yes\n", "1 yes"},
			{"  <!-- oak -->\n\n    <!-- oak -->\n# yes\n", "1 yes"},
			{"<!-->\n# yes\n", "1 yes"},
			{"oak\n<!--\n# no\n-->\n# yes\n", "1 yes"},
		}},
		{"link reference definitions are no paragraph", [][2]string{
			{"[oak]: /u\n===\n[oak]\n", ""},
			{"[oak]: /u\nelm\n===\n", "1 elm"},
			{"[oak]: /u 'one\ntwo'\n===\n", ""},
			{"[oak]:\n/u\n\"t\"\nelm\n---\n", "2 elm"},
			{"[oak]: /u \"t\" x\n===\n", "1 [oak]: /u \"t\" x"},
			{"[oak]: <a b>\n===\n", ""},
			{"[oak]: a b\n===\n", "1 [oak]: a b"},
			{"[oak]: /u\f\n===\n", "1 [oak]: /u\f"},
			{"[]: /u\n===\n", "1 []: /u"},
			{"[a[b]: /u\n===\n", "1 [a[b]: /u"},
			{"[a\\]b]: /u\n===\n", ""},
			{"[" + strings.Repeat("a", 1000) + "]: /u\n===\n", "1 [" + strings.Repeat("a", 1000) + "]: /u"},
		}},
		{"tabs measure from the start of the line", [][2]string{
			{"-\t# oak\n", "1 oak"},
			{"- a\n\n\t# oak\n", "1 oak"},
			{"1.\t# oak\n\n\t## elm\n", "1 oak | 2 elm"},
			{"2) -\t # no\n", ""},
			{"-  - a\n\n\t  # oak\n", "1 oak"},
			{">\t# oak\n", "[1 oak]"},
			{">\t\t# no\n", ""},
			{"-\t\t# no\n", ""},
			{"1.\tx\ty\n\t===\n", "1 x\ty"},
			{"1\t2\n===\n", "1 1\t2"},
		}},
		{"containers", [][2]string{
			{"- # oak\n- elm\n  ---\n  ash\n", "1 oak | 2 elm"},
			{"> # oak\n> elm\n> ---\n", "[1 oak] | [2 elm]"},
			{"># oak\n", "[1 oak]"},
			{"> - > # oak\n", "[1 oak]"},
			{"1. a\n\n   # oak\n", "1 oak"},
			{"123456789. # oak\n1234567890. # no\n", "1 oak"},
			{"a\n2. # no\n", ""},
			{"-\n  # oak\n", "1 oak"},
			{"-\n\n  # oak\n", "1 oak"},
			{"-  a\n\n   -\n\n   # oak\n", "1 oak"},
			{"1.  a\n\n    -\n\n    # oak\n", "1 oak"},
			{"- 2.\n\n\t# oak\n", "1 oak"},
			{"-\n  2) a\n    # oak\n", "1 oak"},
			{"  > *\n  >\n>\n   - # oak\n", "1 oak"},
			{"* \n\n- # oak\n", "1 oak"},
		}},
		{"white space and line ends", [][2]string{
			{"#\foak\n", ""},
			{"# oak\f\n", "1 oak\f"},
			{"oak\n\f\n===\n", "1 oak \f"},
			{"# oak\u2028elm\n", "1 oak\u2028elm"},
			{"a\u2028# no\n", ""},
			{"# oak\u0085\n", "1 oak\u0085"},
			{"\ufeff# no\n", ""},
		}},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				if got := headings(c[0]); got != c[1] {
					t.Errorf("%q\n got %s\nwant %s", c[0], got, c[1])
				}
				checkCover(t, c[0])
			}
		})
	}
}
