package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/canon"
)

// MinQuote is the least length of a quote in visible code points, outer white space not counted,
// unless the quote is its whole passage. Shorter ones occur by chance and bind to nothing.
const MinQuote = 8

// Verdict says why a citation got its status.
type Verdict string

// Verdicts of Bind.
const (
	VerdictExact          Verdict = "exact"           // verified
	VerdictCanonical      Verdict = "canonical"       // near: present only under NFC/NFD
	VerdictFolded         Verdict = "folded"          // near: present only under the wider folding
	VerdictAbsent         Verdict = "absent"          // unobserved: not in the passage in any form
	VerdictTooShort       Verdict = "too_short"       // unobserved: below MinQuote
	VerdictUnknownPassage Verdict = "unknown_passage" // unobserved: no such passage was shown
)

// Bind looks a model's quote up in the one passage it names. The first byte-identical occurrence is
// verified. Failing that, an occurrence under bounded folding is near: the citation then points to
// the true source text and carries it beside the quote. Nothing else is tried: no other passage, no
// text beyond the passage, no joining of pieces around an ellipsis.
func (t *Table) Bind(passage, quote string) (Citation, Verdict) {
	i, ok := t.index[passage]
	if !ok {
		return Citation{Passage: printable(passage), Quote: printable(quote), Status: StatusUnobserved}, VerdictUnknownPassage
	}
	return bind(t.texts[i], t.passages[i], quote)
}

func bind(text *Text, p Passage, quote string) (Citation, Verdict) {
	c := Citation{
		Source: p.Source, Name: p.Name, Passage: p.ID, Role: p.Role, Quote: quote, Status: StatusUnobserved,
		RawSHA256: text.rawSHA256, TextSHA256: text.sha256, Normalizer: text.Normalizer(),
	}
	if !utf8.ValidString(quote) {
		c.Quote = printable(quote)
		return c, VerdictAbsent
	}
	if blank(quote) {
		return c, VerdictTooShort
	}
	short := tooShort(quote)
	if i := strings.Index(p.Text, quote); i >= 0 && (!short || isWhole(quote, p.Text)) {
		start := p.Start + utf8.RuneCountInString(p.Text[:i])
		return place(text, c, Span{start, start + utf8.RuneCountInString(quote)}, StatusVerified), VerdictExact
	}
	for _, f := range []struct {
		mode    foldMode
		verdict Verdict
	}{{foldCanonical, VerdictCanonical}, {foldFull, VerdictFolded}} {
		from, to, whole, found := fold(p.Text, f.mode).find(fold(quote, f.mode))
		if !found || short && !whole {
			continue
		}
		near := place(text, c, Span{p.Start + from, p.Start + to}, StatusNear)
		if near.SourceText != quote { // the same bytes again, refused above for their length
			return near, f.verdict
		}
	}
	if short {
		return c, VerdictTooShort
	}
	return c, VerdictAbsent
}

// place fills in everything that follows from the span. The span comes from a search in the text, so
// it is inside; were it not, the citation would stay unobserved.
func place(text *Text, c Citation, s Span, status string) Citation {
	cut, err := text.Cut(s)
	if err != nil {
		return c
	}
	if c.RawStart, c.RawEnd, err = text.RawRange(s); err != nil {
		return c
	}
	c.Start, c.End = s.Start, s.End
	c.FromLine, c.ToLine = text.linesOf(s)
	c.SpanSHA256 = canon.Digest([]byte(cut))
	c.Status = status
	if status == StatusNear {
		c.SourceText = cut
	}
	return c
}

func tooShort(quote string) bool {
	n := 0
	for _, r := range strings.TrimSpace(quote) {
		if !invisible(r) {
			n++
		}
	}
	return n < MinQuote
}

// isWhole reports that the quote leaves out nothing of the passage but outer white space.
func isWhole(quote, passage string) bool {
	return strings.TrimFunc(quote, unicode.IsSpace) == strings.TrimFunc(passage, unicode.IsSpace)
}

// printable keeps model text fit for JSON. It is used only where nothing was bound.
func printable(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
