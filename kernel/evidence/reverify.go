package evidence

import "slices"

// Reverify recomputes everything a citation says about the text and returns the status that is true
// now: its own if all agrees, else changed. It trusts no field: digests, normalizer, offsets, raw
// range, lines and quote are derived again. Statuses that permission decides are returned as they are.
func Reverify(text *Text, c Citation) string {
	switch c.Status {
	case StatusRevoked, StatusUnavailable, StatusRedacted, StatusChanged:
		return c.Status
	case StatusVerified, StatusNear, StatusUnobserved:
	default:
		return StatusChanged
	}
	bare := Citation{
		Source: c.Source, Name: c.Name, Passage: c.Passage, Role: c.Role, Quote: c.Quote, Status: StatusUnobserved,
		RawSHA256: text.rawSHA256, TextSHA256: text.sha256, Normalizer: text.Normalizer(),
	}
	if c.Status == StatusUnobserved {
		if c == bare || c == (Citation{Passage: c.Passage, Quote: c.Quote, Status: StatusUnobserved}) {
			return StatusUnobserved
		}
		return StatusChanged
	}
	span := Span{c.Start, c.End}
	cut, err := text.Cut(span)
	if err != nil || blank(cut) || c != place(text, bare, span, c.Status) {
		return StatusChanged
	}
	if c.Status == StatusVerified && cut == c.Quote ||
		c.Status == StatusNear && cut != c.Quote && sameFolded(cut, c.Quote) {
		return c.Status
	}
	return StatusChanged
}

// Reverify binds the citation's quote anew in the passage it names and returns the citation's own
// status if the result is the same in every field, else changed. This is the check before adoption:
// it also proves that the passage was shown and that the span is the one that binding chooses.
func (t *Table) Reverify(c Citation) string {
	switch c.Status {
	case StatusRevoked, StatusUnavailable, StatusRedacted, StatusChanged:
		return c.Status
	}
	if again, _ := t.Bind(c.Passage, c.Quote); again != c {
		return StatusChanged
	}
	return c.Status
}

func sameFolded(a, b string) bool {
	return slices.ContainsFunc([]foldMode{foldCanonical, foldFull}, func(mode foldMode) bool {
		return slices.Equal(fold(a, mode).trimmed().runes, fold(b, mode).trimmed().runes)
	})
}
