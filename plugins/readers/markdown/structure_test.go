package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/guest"
	"github.com/writ-kernel/writ/abi/wasm"
)

// checkCover holds a result to what every reader promises.
func checkCover(t testing.TB, text string) {
	t.Helper()
	result := structure([]byte(text), noLimit)
	points := []rune(text)
	var back strings.Builder
	at := 0
	for i, s := range result.Segments {
		if s.Start != at || s.End <= s.Start || s.End > len(points) {
			t.Fatalf("%q: segment %d is %+v after %d", text, i, s, at)
		}
		at = s.End
		back.WriteString(string(points[s.Start:s.End]))
		if !slices.Contains(wasm.SegmentKinds(), s.Kind) || !slices.Contains(wasm.Roles(), s.Role) {
			t.Fatalf("%q: segment %d is %+v", text, i, s)
		}
		if (s.Kind == wasm.SegmentHeading) != (s.Level >= 1 && s.Level <= 6) || strings.Contains(s.Title, "\n") {
			t.Fatalf("%q: segment %d is %+v", text, i, s)
		}
		level := 0
		for _, a := range s.Ancestry {
			above := result.Segments[a]
			if a >= i || above.Kind != wasm.SegmentHeading || above.Role != wasm.RoleBody || above.Level <= level {
				t.Fatalf("%q: segment %d has ancestry %v", text, i, s.Ancestry)
			}
			level = above.Level
		}
		if s.Kind == wasm.SegmentHeading && level >= s.Level {
			t.Fatalf("%q: segment %d has ancestry %v", text, i, s.Ancestry)
		}
	}
	if back.String() != text {
		t.Fatalf("got %q back from %q", back.String(), text)
	}
	for _, d := range result.Diagnostics {
		if d.Start < 0 || d.End < d.Start || d.End > len(points) {
			t.Fatalf("%q: diagnostic %+v", text, d)
		}
	}
}

// cutUp lists segments as "kind/role text"; the role is left out when it is body.
func cutUp(text string) []string {
	var all []string
	points := []rune(text)
	for _, s := range structure([]byte(text), noLimit).Segments {
		name := s.Kind
		if s.Role != wasm.RoleBody {
			name += "/" + s.Role
		}
		all = append(all, fmt.Sprintf("%s %q", name, string(points[s.Start:s.End])))
	}
	return all
}

func codes(text string) []string {
	var all []string
	for _, d := range structure([]byte(text), noLimit).Diagnostics {
		all = append(all, d.Code)
	}
	return all
}

func TestSegmentsSayWhatTheirWordsAre(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty text": {"", nil},
		"blocks of every kind": {
			"# H\ntext\nmore\n\n- a\n- b\n\n```\ncode\n```\n***\n> q\n<div>\n",
			[]string{`heading "# H\n"`, `paragraph "text\nmore\n"`, `blank "\n"`, `list_item "- a\n"`,
				`list_item "- b\n"`, `blank "\n"`, `code/example "` + "```\\ncode\\n```" + `\n"`, `rule "***\n"`,
				`quote/quoted "> q\n"`, `html "<div>\n"`},
		},
		"setext heading with its underline": {"a\nb\n===\nc\n", []string{`heading "a\nb\n===\n"`, `paragraph "c\n"`}},
		"indented code without the blank lines behind it": {
			"    a\n\n    b\n\n\nc\n", []string{`code/example "    a\n\n    b\n"`, `blank "\n\n"`, `paragraph "c\n"`}},
		"unclosed fence to the end": {"```\na\n\n\n", []string{`code/example "` + "```" + `\na\n\n\n"`}},
		"quote with bare marks": {
			"> a\n>\n> b\n>\n", []string{`quote/quoted "> a\n"`, `quote/quoted ">\n"`, `quote/quoted "> b\n"`, `quote/quoted ">\n"`}},
		"lazy line belongs to its quote": {"> a\nb\n\nc\n", []string{`quote/quoted "> a\nb\n"`, `blank "\n"`, `paragraph "c\n"`}},
		"code in a quote is quoted":      {"> ```\n> a\n> ```\n", []string{`code/quoted "> ` + "```\\n> a\\n> ```" + `\n"`}},
		"code in a list item":            {"- a\n\n  ```\n  x\n  ```\n", []string{`list_item "- a\n"`, `blank "\n"`, `code/example "  ` + "```\\n  x\\n  ```" + `\n"`}},
		"markers go with the first words": {
			"-\n  a\n-\n- - b\n", []string{`list_item "-\n  a\n"`, `list_item "-\n"`, `list_item "- - b\n"`}},
		"an empty item ends at a blank line": {"-\n\n  a\n", []string{`list_item "-\n"`, `blank "\n"`, `paragraph "  a\n"`}},
		"definitions are words":              {"[a]: /u\n[b]: /v\ntext\n", []string{`paragraph "[a]: /u\n[b]: /v\n"`, `paragraph "text\n"`}},
		"table": {"intro\na | b\n--|:-:\n1 | 2\n\n| a |\n|---|\n",
			[]string{`paragraph "intro\n"`, `table "a | b\n--|:-:\n1 | 2\n"`, `blank "\n"`, `table "| a |\n|---|\n"`}},
		"no table": {"a | b\n--\n\na | b\n---|---|---\n\na \\| b\n--|--\n",
			[]string{`heading "a | b\n--\n"`, `blank "\n"`, `paragraph "a | b\n---|---|---\n"`, `blank "\n"`, `paragraph "a \\| b\n--|--\n"`}},
		"wide characters": {"\U0001F600 é\n\n# é\n", []string{`paragraph "😀 é\n"`, `blank "\n"`, `heading "# é\n"`}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cutUp(c.text); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			checkCover(t, c.text)
		})
	}
}

func TestCommentsAreHiddenAndNothingElseIs(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  []string
		notes []string
	}{
		"between headings": {"# A\n<!--\n## B\n-->\n## C\n",
			[]string{`heading "# A\n"`, `html/hidden "<!--\n## B\n-->\n"`, `heading "## C\n"`}, nil},
		"never closed": {"# A\n<!-- \n## B\n",
			[]string{`heading "# A\n"`, `html/hidden "<!-- \n## B\n"`}, []string{"unclosed_comment"}},
		"never closed in a quote": {"> <!-- a\n\n# B\n",
			[]string{`html/quoted "> "`, `html/hidden "<!-- a\n"`, `blank "\n"`, `heading "# B\n"`}, []string{"unclosed_comment"}},
		"words behind it show":   {"<!-- x -->*y*\n", []string{`html/hidden "<!-- x -->"`, `html "*y*\n"`}, nil},
		"within a block of tags": {"<div>\n<!-- x -->\ny\n</div>\n", []string{`html "<div>\n"`, `html/hidden "<!-- x -->\n"`, `html "y\n</div>\n"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cutUp(c.text); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if got := codes(c.text); !slices.Equal(got, c.notes) {
				t.Errorf("diagnostics %v, want %v", got, c.notes)
			}
			checkCover(t, c.text)
		})
	}
	for text, hidden := range map[string]string{
		"a <!-- x --> b\n":              "<!-- x -->",
		"a <!-- x\ny --> b\n":           "<!-- x\ny -->",
		"a <!----> b <!--> c <!---> d":  "<!----><!--><!--->",
		"a `<!-- x -->` b\n":            "",
		"a `` ` <!-- x --> `` b\n":      "",
		"a ` <!-- x --> b\n":            "<!-- x -->",
		"a \\<!-- x --> b\n":            "",
		"a <!-- x b\n":                  "",
		"a <!-- x --> `b` <!-- y --> c": "<!-- x --><!-- y -->",
	} {
		var got strings.Builder
		points := []rune(text)
		for _, s := range structure([]byte(text), noLimit).Segments {
			if s.Role == wasm.RoleHidden {
				got.WriteString(string(points[s.Start:s.End]))
			}
		}
		if got.String() != hidden {
			t.Errorf("%q hides %q, want %q", text, got.String(), hidden)
		}
		checkCover(t, text)
	}
}

func TestFrontMatterIsAMappingAtTheFirstByte(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		front    string
		headings string
		notes    []string
	}{
		"a mapping":                 {"---\nname: x\ndesc: y\n---\n# H\n", "---\nname: x\ndesc: y\n---\n", "1 H", nil},
		"to the end of the file":    {"---\na: 1\n---", "---\na: 1\n---", "", nil},
		"headings inside":           {"---\n# c\na: 1\n---\n# H\n", "---\n# c\na: 1\n---\n", "1 H", nil},
		"two rules":                 {"---\n\n# A\n\ntext\n\n---\n\n# B\n", "", "1 A | 1 B", nil},
		"one rule":                  {"---\n", "", "", nil},
		"unclosed":                  {"---\ntitle: x\n\n# H\n", "", "1 H", nil},
		"not at the first byte":     {"\n---\na: 1\n---\n", "", "2 a: 1", nil},
		"indented":                  {" ---\na: 1\n---\n", "", "2 a: 1", nil},
		"four marks":                {"----\na: 1\n---\n", "", "2 a: 1", nil},
		"mark and space":            {"--- \na: 1\n---\n", "", "2 a: 1", nil},
		"closing mark and space":    {"---\na: 1\n--- \n", "", "2 a: 1", nil},
		"a list":                    {"---\n- a\n---\n# H\n", "", "1 H", nil},
		"a word":                    {"---\na\n---\n", "", "2 a", nil},
		"nothing":                   {"---\n---\n# H\n", "", "1 H", nil},
		"only a comment":            {"---\n# c\n---\n", "", "1 c", nil},
		"anchors":                   {"---\na: &x 1\nb: *x\n---\n", "", "2 a: &x 1 b: *x", []string{"front_matter_rejected"}},
		"an alias bomb":             {"---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\n", "", "2 a: &a [x,x] b: &b [*a,*a] c: [*b,*b]", []string{"front_matter_rejected"}},
		"not YAML":                  {"---\na: [\n---\n", "", "2 a: [", []string{"front_matter_rejected"}},
		"closing beyond the cap":    {"---\na: " + strings.Repeat("x", maxFrontMatter) + "\n---\n", "", "2 a: " + strings.Repeat("x", maxFrontMatter), []string{"front_matter_rejected"}},
		"brackets beyond the cap":   {"---\na: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n---\n# H\n", "", "2 a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + " | 1 H", []string{"front_matter_rejected"}},
		"markers beyond the cap":    {"---\na:\n " + strings.Repeat("- ", 9000) + "x\n---\n# H\n", "", "", []string{"front_matter_rejected", "nesting_limit"}},
		"more than one document":    {"---\na: 1\n...\nb: 2\n---\n", "", "2 a: 1 ... b: 2", []string{"front_matter_rejected"}},
		"a duplicate key is YAML's": {"---\na: 1\na: 2\n---\n", "---\na: 1\na: 2\n---\n", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			front := ""
			if s := structure([]byte(c.text), noLimit).Segments; s[0].Kind == wasm.SegmentFrontMatter {
				front = string([]rune(c.text)[:s[0].End])
				if s[0].Role != wasm.RoleFrontMatter || len(s) > 1 && len(s[1].Ancestry) > 0 {
					t.Errorf("%+v", s)
				}
			}
			if front != c.front {
				t.Errorf("front matter %q, want %q", front, c.front)
			}
			if got := headings(c.text); got != c.headings {
				t.Errorf("headings %q, want %q", got, c.headings)
			}
			if got := codes(c.text); !slices.Equal(got, c.notes) {
				t.Errorf("diagnostics %v, want %v", got, c.notes)
			}
			checkCover(t, c.text)
		})
	}
}

func TestOnlyDocumentHeadingsGovern(t *testing.T) {
	text := "a\n# A\nb\n### C\nc\n## B\n> # Q\n> q\n\n- # L\n\n  l\n\nd\n# Z\nz\n"
	want := []string{"a:", "A:", "b:A", "C:A", "c:A>C", "B:A", "Q:", "q:A>B", "L:", "l:A>B", "d:A>B", "Z:", "z:Z"}
	result := structure([]byte(text), noLimit)
	var got []string
	for _, s := range result.Segments {
		if s.Kind == wasm.SegmentBlank {
			continue
		}
		var above []string
		for _, a := range s.Ancestry {
			above = append(above, result.Segments[a].Title)
		}
		words := strings.TrimLeft(strings.TrimSpace(string([]rune(text)[s.Start:s.End])), "#>- ")
		got = append(got, words+":"+strings.Join(above, ">"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestLongTextsAreReadInPartsThatChangeNothing(t *testing.T) {
	const unit = "# A\n\n- a\n\n  # L\n\n> # Q\n\n```\n# no\n\n# no\n```\n<!--\n\n# no\n-->\n    # no\n\n[a]: /u\n===\n\né\n===\n\n"
	const times = 3 * partLines / 20
	one := strings.Split(headings(unit), " | ")
	if got := strings.Join(one, " | "); got != "1 A | 1 L | [1 Q] | 1 é" {
		t.Fatalf("headings %s", got)
	}
	long := strings.Repeat(unit, times)
	if got := headings(long); got != strings.TrimSuffix(strings.Repeat(strings.Join(one, " | ")+" | ", times), " | ") {
		t.Errorf("headings change over %d lines", strings.Count(long, "\n"))
	}
	checkCover(t, long)
	fenced := "```\n" + strings.Repeat("# no\n\n", 2*partLines)
	if got := cutUp(fenced); len(got) != 1 {
		t.Errorf("a long fence is %d segments", len(got))
	}
}

func TestTooManyBlocksAreCutFlat(t *testing.T) {
	text := strings.Repeat("# a\n", maxBlocks+2) + "\n# b\n"
	if got := codes(text); !slices.Equal(got, []string{codeNestingLimit}) {
		t.Errorf("diagnostics %v", got)
	}
	checkCover(t, text)
}

func request(limit int64, body string) []byte {
	header, _ := json.Marshal(wasm.RequestHeader{ABI: wasm.ABI, Kind: wasm.KindReader, Op: wasm.OpStructure,
		MediaType: wasm.MediaText, Limits: wasm.Limits{OutputBytes: limit}})
	return append(append(header, '\n'), body...)
}

func TestAnswerStaysUnderTheOutputLimit(t *testing.T) {
	// The first text has more segments than could ever fit, the second more than do.
	for _, count := range []int{20_000, 2_500} {
		text := strings.Repeat("# é\n", count)
		limit := int64(4*len(text) + 64<<10)
		out, code := guest.Serve(request(limit, text))
		_, body, _ := strings.Cut(string(out), "\n")
		var result wasm.StructureResult
		if err := json.Unmarshal([]byte(body), &result); err != nil || code != wasm.RunOK || int64(len(out)) > limit {
			t.Fatalf("code %d, %d bytes over %d, %v", code, len(out), limit, err)
		}
		if len(result.Segments) != 1 || result.Segments[0].End != utf8.RuneCountInString(text) || result.Diagnostics[0].Code != codeSegmentLimit {
			t.Fatalf("%d segments, diagnostics %v", len(result.Segments), result.Diagnostics)
		}
	}
}

func TestInvalidUTF8IsRefusedAtItsOffset(t *testing.T) {
	out, code := guest.Serve(request(0, "é\xff\xfe"))
	if code != wasm.RunRefused || !strings.Contains(string(out), `"code":"invalid_utf8","offset":2`) {
		t.Fatalf("code %d, answer %s", code, out)
	}
}

func TestManifestIsStrictJSON(t *testing.T) {
	raw, err := os.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m wasm.Manifest
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil || m.ABI != wasm.ABI || m.Kind != wasm.KindReader || m.Name != "markdown" || m.Version != "1.0.0" {
		t.Fatalf("%+v, %v", m, err)
	}
}

func FuzzSegmentsGiveTheTextBack(f *testing.F) {
	for _, s := range []string{"", "---\na: 1\n---\n# H\n", "- a\n\n  > # b\n\t~~~\n", "<!-- a\n\n--> `b` <!--c-->\n",
		"[a]: /u\n===\n", "a|b\n-|-\n", "1. -\n\n\t# x\n", "\f\u2028\n===\n", "-\n- \n  \n>\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if invalid([]byte(text)) >= 0 {
			t.Skip()
		}
		checkCover(t, text)
	})
}
