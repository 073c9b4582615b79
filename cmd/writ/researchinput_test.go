package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

func TestSourceSpecKeepsColonsAndRefusesHalfRanges(t *testing.T) {
	for text, want := range map[string]sourceSpec{
		"a.md":        {path: "a.md"},
		"a.md:1-2":    {path: "a.md", from: 1, to: 2},
		"a:b.md":      {path: "a:b.md"},
		"a:b.md:3-30": {path: "a:b.md", from: 3, to: 30},
		"a:1-2:5-5":   {path: "a:1-2", from: 5, to: 5},
	} {
		got, err := parseSource("source[0]", text)
		if err != nil || got.path != want.path || got.from != want.from || got.to != want.to {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, code := range map[string]reason.Code{
		"":                  writv1.Reason_REASON_MISSING_FIELD,
		":1-2":              writv1.Reason_REASON_MISSING_FIELD,
		"a.md:":             writv1.Reason_REASON_INVALID_INPUT,
		"a.md:5":            writv1.Reason_REASON_INVALID_INPUT,
		"a.md:5-":           writv1.Reason_REASON_INVALID_INPUT,
		"a.md:-5":           writv1.Reason_REASON_INVALID_INPUT,
		"a.md:1-2-3":        writv1.Reason_REASON_INVALID_INPUT,
		"a.md:0-2":          writv1.Reason_REASON_OUT_OF_RANGE,
		"a.md:3-2":          writv1.Reason_REASON_OUT_OF_RANGE,
		"a.md:1-4294967296": writv1.Reason_REASON_OUT_OF_RANGE,
	} {
		_, err := parseSource("source[7]", text)
		if got, ok := reason.As(err); !ok || got.Code != code || got.Field != "source[7]" {
			t.Errorf("%q: got %v, want %s", text, err, reason.Name(code))
		}
	}
}

func TestLinesAreCountedAsTheNormalizerCounts(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "\n": 1, "a": 1, "a\n": 1, "a\nb": 2, "a\r\nb\r\n": 2, "a\rb": 2, "a\r\r\nb": 3, "\ufeffa\n": 1, "\ufeff": 0, "a\u2028b": 1, "a\fb": 1,
	} {
		if got := len(textLines([]byte(text))); got != want {
			t.Errorf("%q: %d lines, want %d", text, got, want)
		}
	}
}

func TestSourcesAreDividedInTheOrderGiven(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b", "c", "d"} {
		if err := os.WriteFile(name, []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one, two := []string{"p"}, []string{"p", "q"}
	for name, c := range map[string]struct {
		flags researchFlags
		want  string
	}{
		"one perspective takes all":      {researchFlags{perspectives: one, sources: []string{"a", "b"}}, "[[a b]]"},
		"two take half each":             {researchFlags{perspectives: two, sources: []string{"a", "b", "c", "d"}}, "[[a b] [c d]]"},
		"the odd one goes to the first":  {researchFlags{perspectives: two, sources: []string{"a", "b", "c"}}, "[[a b] [c]]"},
		"one each":                       {researchFlags{perspectives: two, sources: []string{"a", "b"}}, "[[a] [b]]"},
		"a single one is shared":         {researchFlags{perspectives: two, sources: []string{"a"}}, "[[a] [a]]"},
		"slots are assigned as they say": {researchFlags{perspectives: two, slots: [2][]string{{"b"}, {"a", "b"}}}, "[[b] [a b]]"},
	} {
		t.Run(name, func(t *testing.T) {
			c.flags.question = "q"
			p, err := c.flags.plan()
			if err != nil {
				t.Fatal(err)
			}
			var got [][]string
			for _, slot := range p.slots {
				var names []string
				for _, i := range slot {
					names = append(names, p.files[i].spec.path)
				}
				got = append(got, names)
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

func TestBadInputIsRefusedByFieldBeforeAnythingIsOpened(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "one\ntwo\n")
	write("empty", "")
	write("wide", strings.Repeat(strings.Repeat("x", 99)+"\n", 50))
	good := func(change func(*researchFlags)) researchFlags {
		f := researchFlags{question: "q", perspectives: []string{"p"}, sources: []string{"a"}, allowance: 1}
		change(&f)
		return f
	}
	const (
		invalid = writv1.Reason_REASON_INVALID_INPUT
		missing = writv1.Reason_REASON_MISSING_FIELD
		beyond  = writv1.Reason_REASON_OUT_OF_RANGE
	)
	for name, c := range map[string]struct {
		flags researchFlags
		code  reason.Code
		field string
	}{
		"no source":                {good(func(f *researchFlags) { f.sources = nil }), missing, "source"},
		"no perspective":           {good(func(f *researchFlags) { f.perspectives = nil }), beyond, "perspective"},
		"empty perspective":        {good(func(f *researchFlags) { f.perspectives = []string{" "} }), missing, "perspective[0]"},
		"three in one slot":        {good(func(f *researchFlags) { f.sources = []string{"a", "a", "a"} }), beyond, "source"},
		"twice in one slot":        {good(func(f *researchFlags) { f.sources = []string{"a:1-1", "a:2-2"} }), invalid, "source[1].source_id"},
		"source beside slots":      {good(func(f *researchFlags) { f.slots[0] = []string{"a"} }), invalid, "source"},
		"slot without perspective": {good(func(f *researchFlags) { f.sources, f.slots = nil, [2][]string{{"a"}, {"a"}} }), invalid, "slot2"},
		"slot without source": {good(func(f *researchFlags) {
			f.perspectives = []string{"p", "q"}
			f.sources, f.slots[0] = nil, []string{"a"}
		}), beyond, "slot2"},
		"empty file":                  {good(func(f *researchFlags) { f.sources = []string{"empty"} }), beyond, "source[0]"},
		"range outside":               {good(func(f *researchFlags) { f.sources = []string{"a:2-3"} }), beyond, "source[0]"},
		"too much quoted":             {good(func(f *researchFlags) { f.sources = []string{"a", "wide"} }), writv1.Reason_REASON_EXCERPT_TOO_LARGE, "source[1]"},
		"allowance above the ceiling": {good(func(f *researchFlags) { f.allowance = 1 << 40 }), beyond, "allowance"},
		"deadline above the ceiling":  {good(func(f *researchFlags) { f.deadline = 301 * time.Second }), beyond, "deadline"},
		"fraction of a second":        {good(func(f *researchFlags) { f.deadline = 1500 * time.Millisecond }), beyond, "deadline"},
		"negative deadline":           {good(func(f *researchFlags) { f.deadline = -time.Second }), beyond, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.flags.plan()
			got, ok := reason.As(err)
			if !ok || got.Code != c.code || got.Field != c.field {
				t.Errorf("got %v, want %s at %q", err, reason.Name(c.code), c.field)
			}
		})
	}
}

func TestAnExcerptThatIsTooLargeNamesSizesAndWhatWouldFit(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("wide", []byte(strings.Repeat(strings.Repeat("x", 99)+"\n", 50)), 0o600); err != nil {
		t.Fatal(err)
	}
	f := researchFlags{question: "q", perspectives: []string{"p"}, sources: []string{"wide:2-50"}}
	_, err := f.plan()
	got, ok := reason.As(err)
	if !ok || !strings.Contains(got.Detail, "wide:2-50 4900") || !strings.Contains(got.Next, "wide:2-41 would fit") {
		t.Fatalf("got %+v", got)
	}
	f.sources = []string{"wide:2-41"}
	if _, err := f.plan(); err != nil {
		t.Errorf("what would fit does not: %v", err)
	}
}

func TestEveryReasonHasAnExitCode(t *testing.T) {
	for number, name := range writv1.Reason_name {
		if exit := exitOf(reason.Code(number)); !slices.Contains([]int{exitFault, exitInput, exitUnended}, exit) {
			t.Errorf("%s exits %d", name, exit)
		}
	}
}
