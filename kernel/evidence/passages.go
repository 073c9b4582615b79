package evidence

import (
	"fmt"
	"slices"
	"sort"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/wasm"
)

// Passage is one piece of a source that a child is shown, exactly as it stands there.
type Passage struct {
	ID         string   `json:"id"` // p1, p2, … over all sources of one child
	Source     string   `json:"source"`
	Name       string   `json:"name"`
	Start      int      `json:"start"` // code points [Start, End) of the normalized text
	End        int      `json:"end"`
	FromLine   int      `json:"from_line"`
	ToLine     int      `json:"to_line"`
	Kind       string   `json:"kind"`
	Role       string   `json:"role"`
	Headings   []string `json:"headings"` // outermost first; only headings that are shown themselves
	Text       string   `json:"text"`
	SpanSHA256 string   `json:"span_sha256"`
}

// Span is the passage's place in its text.
func (p Passage) Span() Span { return Span{p.Start, p.End} }

// Table is the local passage table of one child: all that its model may point to. The zero Table is
// empty. It is built by one goroutine and may then be read by many.
type Table struct {
	passages []Passage
	texts    []*Text // of each passage
	index    map[string]int
}

// Add appends the passages of one source: a reader's segments cut down to the approved line ranges,
// in text order. Overlapping and adjoining ranges count as one; white space alone makes no passage;
// no range means that nothing is shown. Errors are OUT_OF_RANGE for a range and PLUGIN_FAILED for
// segments that do not fit the text; the table is then unchanged.
func (t *Table) Add(text *Text, source, name string, segments []Segment, ranges []LineRange) error {
	approved, err := text.union(ranges)
	if err != nil {
		return err
	}
	if err := CheckSegments(text, segments); err != nil {
		return err
	}
	var added []Passage
	for _, r := range approved {
		first := sort.Search(len(segments), func(i int) bool { return segments[i].End > r.Start })
		for _, s := range segments[first:] {
			if s.Start >= r.End {
				break
			}
			span := Span{max(s.Start, r.Start), min(s.End, r.End)}
			cut, err := text.Cut(span)
			if err != nil {
				return err
			}
			if blank(cut) {
				continue
			}
			from, to := text.linesOf(span)
			added = append(added, Passage{
				ID: fmt.Sprintf("p%d", len(t.passages)+len(added)+1), Source: source, Name: name,
				Start: span.Start, End: span.End, FromLine: from, ToLine: to, Kind: s.Kind, Role: s.Role,
				Headings: headings(text, segments, s.Ancestry, approved),
				Text:     cut, SpanSHA256: canon.Digest([]byte(cut)),
			})
		}
	}
	if t.index == nil {
		t.index = map[string]int{}
	}
	for _, p := range added {
		t.index[p.ID] = len(t.passages)
		t.passages = append(t.passages, p)
		t.texts = append(t.texts, text)
	}
	return nil
}

// Passages are all passages in the order of their IDs. The slice must not be changed.
func (t *Table) Passages() []Passage { return t.passages }

// Bytes is how many bytes of source text the passages quote.
func (t *Table) Bytes() int {
	n := 0
	for _, p := range t.passages {
		n += len(p.Text)
	}
	return n
}

// headings keeps the ancestors that lie wholly inside one approved range: a heading outside was
// never approved for egress, and half a heading says something else.
func headings(text *Text, segments []Segment, ancestry []int, approved []Span) []string {
	out := []string{}
	for _, a := range ancestry {
		s := segments[a]
		span := Span{s.Start, s.End}
		if !slices.ContainsFunc(approved, func(r Span) bool { return r.contains(span) }) {
			continue
		}
		if cut, err := text.Cut(span); err == nil && s.Role != wasm.RoleHidden {
			out = append(out, heading(s.Title, cut))
		}
	}
	return out
}
