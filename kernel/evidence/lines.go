package evidence

import (
	"sort"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// LineRange is the lines From to To, both included, counted from 1.
type LineRange struct {
	From int `json:"from_line"`
	To   int `json:"to_line"`
}

// Lines is the number of lines.
func (t *Text) Lines() int { return len(t.lines) }

// LineRange is the span of the lines from to to, both included, with their line ends. OUT_OF_RANGE
// unless 1 ≤ from ≤ to ≤ Lines().
func (t *Text) LineRange(from, to int) (Span, error) {
	if from < 1 || to < from || to > len(t.lines) {
		return Span{}, reason.New(writv1.Reason_REASON_OUT_OF_RANGE,
			"lines %d to %d of a text with %d lines", from, to, len(t.lines))
	}
	end := t.points
	if to < len(t.lines) {
		end = t.lines[to].pointAt
	}
	return Span{t.lines[from-1].pointAt, end}, nil
}

// LineOf is the line that a code point stands on, its line end included, or 0 when the text has no
// such code point.
func (t *Text) LineOf(point int) int {
	if point < 0 || point >= t.points {
		return 0
	}
	return sort.Search(len(t.lines), func(i int) bool { return t.lines[i].pointAt > point })
}

// linesOf is the first and the last line that a span touches; 0, 0 for an empty one.
func (t *Text) linesOf(s Span) (from, to int) {
	if s.Start >= s.End {
		return 0, 0
	}
	return t.LineOf(s.Start), t.LineOf(s.End - 1)
}

// union checks ranges against the text and returns their spans in order, with overlapping and
// adjoining ones made one, so that no line is shown twice.
func (t *Text) union(ranges []LineRange) ([]Span, error) {
	spans := make([]Span, 0, len(ranges))
	for _, r := range ranges {
		s, err := t.LineRange(r.From, r.To)
		if err != nil {
			return nil, err
		}
		spans = append(spans, s)
	}
	sort.Slice(spans, func(i, j int) bool {
		if spans[i].Start != spans[j].Start {
			return spans[i].Start < spans[j].Start
		}
		return spans[i].End < spans[j].End
	})
	var out []Span
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out, nil
}
