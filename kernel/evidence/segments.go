package evidence

import (
	"slices"
	"strings"
	"unicode"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/wasm"
)

// Segment is one piece of a text as a reader sees it.
type Segment = wasm.Segment

// CheckSegments refuses a reader's answer that does not fit the text: segments must cover every code
// point once and in order, use the closed sets of kinds and roles, call blank only what is blank,
// and stand only under headings that are still open there. The error is PLUGIN_FAILED.
func CheckSegments(t *Text, segments []Segment) error {
	kinds, roles := wasm.SegmentKinds(), wasm.Roles()
	at := 0
	var open []int // headings that a segment here may stand under, outermost first
	for i, s := range segments {
		bad := func(format string, args ...any) error {
			return reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "segment %d: "+format, append([]any{i}, args...)...)
		}
		if s.Start != at || s.End <= s.Start || s.End > t.points {
			return bad("covers code points %d to %d; expected to go on at %d of %d", s.Start, s.End, at, t.points)
		}
		at = s.End
		if !slices.Contains(kinds, s.Kind) {
			return bad("unknown kind")
		}
		if !slices.Contains(roles, s.Role) {
			return bad("unknown role")
		}
		if err := checkAncestry(segments, open, s); err != "" {
			return bad("%s", err)
		}
		if s.Kind == wasm.SegmentBlank {
			text, err := t.Cut(Span{s.Start, s.End})
			if err != nil {
				return err
			}
			if !blank(text) {
				return bad("called blank but holds text")
			}
		}
		if s.Kind != wasm.SegmentHeading {
			if s.Level != 0 || s.Title != "" {
				return bad("only a heading has a level and a title")
			}
			continue
		}
		if s.Level < 1 || s.Level > 6 {
			return bad("heading level %d", s.Level)
		}
		for len(open) > 0 && segments[open[len(open)-1]].Level >= s.Level {
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	if at != t.points {
		return reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "segments cover %d of %d code points", at, t.points)
	}
	return nil
}

// checkAncestry walks the open headings along with the claimed ones: a heading that another one has
// closed relabels nothing.
func checkAncestry(segments []Segment, open []int, s Segment) string {
	next := 0
	for _, a := range s.Ancestry {
		for next < len(open) && open[next] != a {
			next++
		}
		if next == len(open) {
			return "stands under something that is no open heading before it"
		}
		next++
	}
	if n := len(s.Ancestry); n > 0 && s.Kind == wasm.SegmentHeading && segments[s.Ancestry[n-1]].Level >= s.Level {
		return "heading stands under one that is not above its level"
	}
	return ""
}

// blank reports that s holds white space only, so that there is nothing to quote.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

// heading is what a heading says, on one line: the reader's title when it holds exactly the letters
// and digits of the heading's own text, so that only markup is gone, else the text itself. A reader
// can neither put a word there nor leave one out.
func heading(title, text string) string {
	if words(title) != words(text) {
		title = text
	}
	return strings.Join(strings.Fields(title), " ")
}

func words(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, s)
}
