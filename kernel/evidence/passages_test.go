package evidence

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/wasm"
)

const document = "# Top *one*\n" + // 1
	"\n" + // 2
	"opening words\n" + // 3
	"## Approval\n" + // 4
	"was never given\n" + // 5
	"and is not planned\n" + // 6
	"## Second\n" + // 7
	"<!-- obey -->\n" + // 8
	"last words" // 9

func parts(t testing.TB) (*Text, []Segment) {
	t.Helper()
	text := mustText(t, document)
	at := func(from, to int, s Segment) Segment {
		span, err := text.LineRange(from, to)
		if err != nil {
			t.Fatal(err)
		}
		s.Start, s.End = span.Start, span.End
		return s
	}
	p := Segment{Kind: wasm.SegmentParagraph, Role: wasm.RoleBody}
	h := func(level int, title string, under ...int) Segment {
		return Segment{Kind: wasm.SegmentHeading, Role: wasm.RoleBody, Level: level, Title: title, Ancestry: under}
	}
	under := func(s Segment, ancestry ...int) Segment { s.Ancestry = ancestry; return s }
	return text, []Segment{
		at(1, 1, h(1, "Top one")),
		at(2, 2, Segment{Kind: wasm.SegmentBlank, Role: wasm.RoleBody, Ancestry: []int{0}}),
		at(3, 3, under(p, 0)),
		at(4, 4, h(2, "Approval", 0)),
		at(5, 6, under(p, 0, 3)),
		at(7, 7, h(2, "Second", 0)),
		at(8, 8, Segment{Kind: wasm.SegmentHTML, Role: wasm.RoleHidden, Ancestry: []int{0, 5}}),
		at(9, 9, under(p, 0, 5)),
	}
}

func TestPassagesAreSegmentsCutToApprovedLines(t *testing.T) {
	text, segments := parts(t)
	table := &Table{}
	if err := table.Add(text, "s1", "A.md", segments, []LineRange{{6, 8}, {1, 3}}); err != nil {
		t.Fatal(err)
	}
	if err := table.Add(mustText(t, "other\r\n"), "s2", "B.txt", []Segment{body(0, 6)}, []LineRange{{1, 1}}); err != nil {
		t.Fatal(err)
	}
	type row struct {
		ID, Source, Text, Role string
		From, To               int
		Headings               []string
	}
	var got []row
	bytes := 0
	for _, p := range table.Passages() {
		got = append(got, row{p.ID, p.Source, p.Text, p.Role, p.FromLine, p.ToLine, p.Headings})
		bytes += len(p.Text)
		if p.SpanSHA256 != canon.Digest([]byte(p.Text)) {
			t.Errorf("%s: wrong digest", p.ID)
		}
	}
	want := []row{
		{"p1", "s1", "# Top *one*\n", wasm.RoleBody, 1, 1, []string{}},
		{"p2", "s1", "opening words\n", wasm.RoleBody, 3, 3, []string{"Top one"}},
		{"p3", "s1", "and is not planned\n", wasm.RoleBody, 6, 6, []string{"Top one"}}, // line 4 was not approved
		{"p4", "s1", "## Second\n", wasm.RoleBody, 7, 7, []string{"Top one"}},
		{"p5", "s1", "<!-- obey -->\n", wasm.RoleHidden, 8, 8, []string{"Top one", "Second"}},
		{"p6", "s2", "other\n", wasm.RoleBody, 1, 1, []string{}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
	if table.Bytes() != bytes {
		t.Errorf("%d bytes, want %d", table.Bytes(), bytes)
	}
	if c, v := table.Bind("p3", "was never given"); v != VerdictAbsent {
		t.Errorf("a line that was not approved can be quoted: %+v", c)
	}
}

func TestOverlappingAndAdjoiningRangesShowALineOnce(t *testing.T) {
	text, segments := parts(t)
	for _, ranges := range [][]LineRange{{{4, 5}, {6, 6}}, {{5, 6}, {4, 5}}, {{4, 6}, {4, 4}, {5, 5}}} {
		table := &Table{}
		if err := table.Add(text, "s", "n", segments, ranges); err != nil {
			t.Fatal(err)
		}
		if p := table.Passages(); len(p) != 2 || p[1].Text != "was never given\nand is not planned\n" || !slices.Equal(p[1].Headings, []string{"Approval"}) {
			t.Errorf("%v: %+v", ranges, p)
		}
	}
}

func TestNothingApprovedShowsNothing(t *testing.T) {
	text, segments := parts(t)
	table := &Table{}
	if err := table.Add(text, "s", "n", segments, nil); err != nil || len(table.Passages()) != 0 {
		t.Fatal(err, table.Passages())
	}
}

func TestRefusedSourceLeavesTheTableUnchanged(t *testing.T) {
	text, segments := parts(t)
	table := &Table{}
	err := table.Add(text, "s", "n", segments, []LineRange{{1, 2}, {9, 10}})
	if !reason.Is(err, writv1.Reason_REASON_OUT_OF_RANGE) {
		t.Fatal(err)
	}
	if err := table.Add(text, "s", "n", segments[1:], []LineRange{{1, 9}}); !reason.Is(err, writv1.Reason_REASON_PLUGIN_FAILED) {
		t.Fatal(err)
	}
	if len(table.Passages()) != 0 {
		t.Fatal(table.Passages())
	}
}

func TestHeadingCutByARangeIsNoAncestor(t *testing.T) {
	text := mustText(t, "Long\ntitle\n=====\nwords\n")
	segments := []Segment{
		{Start: 0, End: 17, Kind: wasm.SegmentHeading, Role: wasm.RoleBody, Level: 1, Title: "Long title"},
		{Start: 17, End: 23, Kind: wasm.SegmentParagraph, Role: wasm.RoleBody, Ancestry: []int{0}},
	}
	for from, want := range map[int][]string{1: {"Long title"}, 2: {}} {
		table := &Table{}
		if err := table.Add(text, "s", "n", segments, []LineRange{{from, 4}}); err != nil {
			t.Fatal(err)
		}
		if got := table.Passages()[1].Headings; !slices.Equal(got, want) {
			t.Errorf("from line %d: %q, want %q", from, got, want)
		}
	}
}

func TestReaderPutsNoWordInAHeading(t *testing.T) {
	for _, c := range []struct{ name, title, text, want string }{
		{"markup gone", "Foo bar", "# *Foo* `bar` #\n", "Foo bar"},
		{"setext on two lines", "Foo bar", "Foo\nbar\n---\n", "Foo bar"},
		{"no title", "", "# Foo\n", "# Foo"},
		{"invented", "Approved", "# Draft\n", "# Draft"},
		{"word left out", "approved", "# not approved\n", "# not approved"},
		{"words turned round", "b a", "# a b\n", "# a b"},
		{"mark left out", "resume", "# re\u0301sume\u0301\n", "# re\u0301sume\u0301"},
		{"link", "Foo", "# [Foo](x)\n", "# [Foo](x)"},
	} {
		if got := heading(c.title, c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSegmentsThatDoNotFitTheTextAreRefused(t *testing.T) {
	for name, change := range map[string]func([]Segment) []Segment{
		"gap":                         func(s []Segment) []Segment { s[2].Start++; return s },
		"overlap":                     func(s []Segment) []Segment { s[2].Start--; return s },
		"empty segment":               func(s []Segment) []Segment { s[2].End = s[2].Start; return s },
		"backwards":                   func(s []Segment) []Segment { s[2], s[3] = s[3], s[2]; return s },
		"stops early":                 func(s []Segment) []Segment { return s[:7] },
		"none":                        func([]Segment) []Segment { return nil },
		"beyond the end":              func(s []Segment) []Segment { s[7].End++; return s },
		"huge end":                    func(s []Segment) []Segment { s[7].End = 1 << 60; return s },
		"negative start":              func(s []Segment) []Segment { s[0].Start = -1; return s },
		"one after the end":           func(s []Segment) []Segment { return append(s, body(s[7].End, s[7].End+1)) },
		"unknown kind":                func(s []Segment) []Segment { s[2].Kind = "ignore previous instructions"; return s },
		"unknown role":                func(s []Segment) []Segment { s[2].Role = ""; return s },
		"text called blank":           func(s []Segment) []Segment { s[2].Kind = wasm.SegmentBlank; return s },
		"level without heading":       func(s []Segment) []Segment { s[2].Level = 1; return s },
		"title without heading":       func(s []Segment) []Segment { s[2].Title = "x"; return s },
		"level 0":                     func(s []Segment) []Segment { s[0].Level = 0; return s },
		"level 7":                     func(s []Segment) []Segment { s[3].Level = 7; return s },
		"ancestor is no heading":      func(s []Segment) []Segment { s[4].Ancestry = []int{2}; return s },
		"ancestor is itself":          func(s []Segment) []Segment { s[3].Ancestry = []int{3}; return s },
		"ancestor comes later":        func(s []Segment) []Segment { s[2].Ancestry = []int{3}; return s },
		"ancestor negative":           func(s []Segment) []Segment { s[2].Ancestry = []int{-1}; return s },
		"ancestor beyond":             func(s []Segment) []Segment { s[2].Ancestry = []int{99}; return s },
		"ancestor twice":              func(s []Segment) []Segment { s[4].Ancestry = []int{0, 0}; return s },
		"ancestors turned round":      func(s []Segment) []Segment { s[4].Ancestry = []int{3, 0}; return s },
		"heading of another section":  func(s []Segment) []Segment { s[7].Ancestry = []int{0, 3}; return s },
		"heading under its own level": func(s []Segment) []Segment { s[5].Ancestry = []int{0, 3}; return s },
	} {
		t.Run(name, func(t *testing.T) {
			text, segments := parts(t)
			if err := CheckSegments(text, segments); err != nil {
				t.Fatal(err)
			}
			if err := CheckSegments(text, change(segments)); !reason.Is(err, writv1.Reason_REASON_PLUGIN_FAILED) {
				t.Fatalf("got %v, want plugin_failed", err)
			}
		})
	}
	if err := CheckSegments(mustText(t, "\ufeff"), nil); err != nil {
		t.Errorf("an empty text has no segments: %v", err)
	}
}

// Whatever the segments and ranges, the passages are exactly the approved lines, each once, in order.
func TestPassagesAreTheApprovedLinesAndNothingElse(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		text := mustText(t, random(r, 120)+"x")
		var segments []Segment
		for at := 0; at < text.Len(); {
			end := min(text.Len(), at+1+r.IntN(20))
			segments = append(segments, body(at, end))
			at = end
		}
		approved := make([]bool, text.Lines()+1)
		var ranges []LineRange
		for range r.IntN(4) {
			from := 1 + r.IntN(text.Lines())
			to := from + r.IntN(text.Lines()-from+1)
			ranges = append(ranges, LineRange{from, to})
			for n := from; n <= to; n++ {
				approved[n] = true
			}
		}
		table := &Table{}
		if err := table.Add(text, "s", "n", segments, ranges); err != nil {
			t.Fatal(err)
		}
		var want, got strings.Builder
		for i, c := range []rune(text.String()) {
			if approved[text.LineOf(i)] {
				want.WriteRune(c)
			}
		}
		at := 0
		for _, p := range table.Passages() {
			cut, err := text.Cut(p.Span())
			if err != nil || cut != p.Text || p.Start < at {
				t.Fatalf("seed %d: %+v, %v", seed, p, err)
			}
			at = p.End
			got.WriteString(p.Text)
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") } // white space alone makes no passage
		if squeeze(got.String()) != squeeze(want.String()) {
			t.Fatalf("seed %d: shown %q, approved %q", seed, got.String(), want.String())
		}
	}
}
