package evidence

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
)

// Span is the code points [Start, End) of a normalized text.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

func (s Span) contains(o Span) bool { return s.Start <= o.Start && o.End <= s.End }

// bounds is the span's byte range in the text.
func (t *Text) bounds(s Span) (from, to int, err error) {
	if s.Start < 0 || s.End < s.Start || s.End > t.points {
		return 0, 0, reason.New(writv1.Reason_REASON_OUT_OF_RANGE,
			"code points %d to %d of a text with %d", s.Start, s.End, t.points)
	}
	return t.byteOf(s.Start), t.byteOf(s.End), nil
}

// Cut is the exact text of a span. OUT_OF_RANGE unless 0 ≤ Start ≤ End ≤ Len().
func (t *Text) Cut(s Span) (string, error) {
	from, to, err := t.bounds(s)
	if err != nil {
		return "", err
	}
	return t.text[from:to], nil
}

// RawRange is the span's byte range [start, end) in the raw source. Adjoining spans have adjoining
// raw ranges; the CR of a CRLF belongs to the same span as its LF.
func (t *Text) RawRange(s Span) (start, end int, err error) {
	from, to, err := t.bounds(s)
	if err != nil {
		return 0, 0, err
	}
	return t.rawOf(from), t.rawOf(to), nil
}

// SpanSHA256 is the digest of the span's text in UTF-8.
func (t *Text) SpanSHA256(s Span) (string, error) {
	cut, err := t.Cut(s)
	if err != nil {
		return "", err
	}
	return canon.Digest([]byte(cut)), nil
}
