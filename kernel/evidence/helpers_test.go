package evidence

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/wasm"
)

// naive is text.v1 written the slow, obvious way, to compare the fast way with.
func naive(raw []byte) (text, rawMap []byte, ok bool) {
	if !utf8.Valid(raw) {
		return nil, nil, false
	}
	for _, r := range string(raw) {
		if r < 0x20 && !strings.ContainsRune("\t\n\r\f", r) {
			return nil, nil, false
		}
	}
	s := string(raw)
	var m wasm.RawMap
	if strings.HasPrefix(s, "\ufeff") {
		s = s[3:]
		m = m.AppendPair(0, 3)
	}
	pieces := strings.Split(s, "\r\n")
	for i, p := range pieces {
		text = append(text, strings.ReplaceAll(p, "\r", "\n")...)
		if i < len(pieces)-1 {
			text = append(text, '\n')
			m = m.AppendPair(len(p)+1, 1)
		}
	}
	return text, m, true
}

func mustText(t testing.TB, raw string) *Text {
	t.Helper()
	text, m, ok := naive([]byte(raw))
	if !ok {
		t.Fatalf("%q is not text", raw)
	}
	out, err := NewText([]byte(raw), text, m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func body(start, end int) Segment {
	return Segment{Start: start, End: end, Kind: wasm.SegmentParagraph, Role: wasm.RoleBody}
}

// tableOf shows a whole source as one passage, p1.
func tableOf(t testing.TB, raw string) (*Table, *Text) {
	t.Helper()
	text := mustText(t, raw)
	table := &Table{}
	if text.Len() > 0 {
		if err := table.Add(text, "src", "NAME.md", []Segment{body(0, text.Len())}, []LineRange{{1, text.Lines()}}); err != nil {
			t.Fatal(err)
		}
	}
	return table, text
}

// nasty is what the random texts are made of.
var nasty = []string{
	"a", "b", "word ", "\n", "\r\n", "\r", "\r\r\n", "\n\r", "\t", "\f", "\ufeff", "\u0085", "\u2028", "\u2029",
	"é", "e\u0301", "\u0301", "\u0323", "q\u0307\u0323", "ﬁ", "\u00ad", "\u00ad\n", "“", "”", "‑", "—",
	"\u00a0", "\u3000", "\u200b", "\u202e", "\U000e0041", "𝔘", "한", "\ufdfa", "…", "...", "  ", "\u0344",
}

func random(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		b.WriteString(nasty[r.IntN(len(nasty))])
	}
	return b.String()
}
