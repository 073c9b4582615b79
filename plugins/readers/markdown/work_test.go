package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/text"
)

// counter counts the bytes and steps that the block parser is given.
type counter struct {
	text.Reader
	work int
}

func (c *counter) PeekLine() ([]byte, text.Segment) {
	line, segment := c.Reader.PeekLine()
	c.work += 1 + len(line)
	return line, segment
}

func (c *counter) LineOffset() int {
	c.work++
	return c.Reader.LineOffset()
}

func (c *counter) AdvanceLine() {
	c.work++
	c.Reader.AdvanceLine()
}

// work is what it takes to read a text, or -1 when it is cut flat without being parsed.
func work(s string) int {
	lines := newColumns([]byte(s), 0)
	if tooDeep(lines) {
		return -1
	}
	work := 0
	for lines.count() > 0 {
		var c *counter
		b := parse(lines, func(r text.Reader) text.Reader {
			c = &counter{Reader: r}
			return c
		})
		if b.over {
			return -1
		}
		work += c.work
		lines = lines.from(b.lines)
	}
	return work
}

func staircase(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}

func TestWorkStaysInStepWithSize(t *testing.T) {
	for name, make := range map[string]func(n int) string{
		"quote depth":        func(n int) string { return strings.Repeat("> ", n) + "x\n" },
		"quotes by the line": func(n int) string { return strings.Repeat(strings.Repeat("> ", 60)+"x\n", n/60) },
		"list depth":         func(n int) string { return staircase(n / 40) },
		"list depth in line": func(n int) string { return strings.Repeat("- ", n) + "x\n" },
		"lists, then blanks": func(n int) string { return staircase(60) + strings.Repeat("\n", n) },
		"lists, lazy lines":  func(n int) string { return staircase(60) + strings.Repeat("x\n", n) },
		"brackets":           func(n int) string { return strings.Repeat("[", n) },
		"bracket lines":      func(n int) string { return strings.Repeat("[\n", n) },
		"definitions":        func(n int) string { return strings.Repeat("[a]: /u\n", n) },
		"open titles":        func(n int) string { return strings.Repeat("[a]: /u\n\"", n) },
		"tildes":             func(n int) string { return strings.Repeat("~", n) },
		"backticks":          func(n int) string { return strings.Repeat("`", n) },
		"spaces":             func(n int) string { return strings.Repeat(" ", n) + "x" },
		"tabs":               func(n int) string { return strings.Repeat("\t", n) + "x" },
		"rules":              func(n int) string { return strings.Repeat("- - -\n", n) },
		"one rule":           func(n int) string { return strings.Repeat("- ", n) },
		"setext marks":       func(n int) string { return "a\n" + strings.Repeat("=", n) },
		"paragraph lines":    func(n int) string { return strings.Repeat("a\n", n) },
		"tags":               func(n int) string { return strings.Repeat("<a ", n) },
		"tag lines":          func(n int) string { return strings.Repeat("<a b='\n", n) },
		"closers":            func(n int) string { return "<script>" + strings.Repeat("</", n) },
		"empty items":        func(n int) string { return strings.Repeat("-\n\n", n) },
		"headings":           func(n int) string { return strings.Repeat("# a\n", n) },
	} {
		t.Run(name, func(t *testing.T) {
			small, large := work(make(10_000)), work(make(20_000))
			if large >= 0 && (small < 0 || large > small*22/10+1000) {
				t.Errorf("work %d, and %d for twice the size", small, large)
			}
		})
	}
}

func TestNestingBeyondTheCapIsCutFlat(t *testing.T) {
	for name, text := range map[string]string{
		"quotes":          strings.Repeat("> ", 300) + "x\n",
		"quotes, no gaps": strings.Repeat(">", 100_000),
		"lists":           staircase(1000),
		"lists in a line": strings.Repeat("- ", 300) + "x\n",
		"numbers":         strings.Repeat("1. ", 300) + "x\n",
		"mixed":           strings.Repeat("> - 1) ", 50) + "x\n",
		"kept open":       staircase(60) + strings.Repeat(strings.Repeat(" ", 120)+"x\n\n", maxOpen/120+1),
	} {
		t.Run(name, func(t *testing.T) {
			text := "# A\n\n" + text + "\n# B\n"
			if got := codes(text); !slices.Equal(got, []string{codeNestingLimit}) {
				t.Errorf("diagnostics %v", got)
			}
			checkCover(t, text)
		})
	}
}

func TestNestingUnderTheCapIsParsed(t *testing.T) {
	for name, text := range map[string]string{
		"quotes":           strings.Repeat("> ", maxDepth) + "# no\n",
		"lists":            staircase(maxDepth / 2),
		"indented art":     strings.Repeat(" ", 400) + "x\n",
		"items in a row":   strings.Repeat("- a\n", 5000),
		"nested in a row":  strings.Repeat("- a\n  - b\n    - c\n", 2000),
		"spaced rules":     strings.Repeat("- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -\n", 50),
		"spaced stars":     strings.Repeat("* ", 200) + "\n",
		"items in a fence": "```\n" + strings.Repeat("  - a\n", 5000) + "```\n",
		"brackets":         strings.Repeat("[", 20_000),
		"tildes":           strings.Repeat("~", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			if got := codes(text); len(got) > 0 {
				t.Errorf("diagnostics %v", got)
			}
			checkCover(t, text)
		})
	}
}

// The bound must never be lower than what the parser builds, or recursion is not bounded.
func FuzzDepthIsNeverUnderstated(f *testing.F) {
	for _, s := range []string{"> - 1. a\n", staircase(8), "- a\n\n      - b\n", "-\n  -\n    -\n", "> > a\nb\n> > > c\n", "1.\t- >\tx\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines := newColumns([]byte(s), 0)
		if tooDeep(lines) {
			t.Skip()
		}
		bound := 0
		for n := range lines.count() {
			if !lines.blank(n) {
				spaces, markers := prefix(lines.line(n))
				bound = max(bound, min(bound, spaces/2)+markers)
			}
		}
		for node := range parse(lines, nil).spans {
			depth := 0
			for at := node; at != nil; at = at.Parent() {
				if isContainer(at) {
					depth++
				}
			}
			// Lists stand between items and count once more; the document counts too.
			if depth > 2*bound+1 {
				t.Fatalf("%q nests %d, bound %d", s, depth, bound)
			}
		}
	})
}
