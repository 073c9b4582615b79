package evidence

import (
	"sort"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/canon"
)

// stride is the number of code points between two index entries: lookups walk at most this many.
const stride = 64

// Text is one normalized source: immutable, checked against its raw bytes, safe for concurrent use.
type Text struct {
	text      string
	rawSHA256 string
	sha256    string
	rawSize   int
	points    int    // code points
	marks     []int  // marks[k] is the byte offset of code point k*stride
	lines     []line // where each line starts
	skips     []skip
}

type line struct{ byteAt, pointAt int }

// NewText makes a Text of a text.v1 normalizer's answer, after proving byte for byte that the answer
// belongs to raw. NOT_TEXT means that raw itself is no text; PLUGIN_FAILED means that the answer is
// not the one text.v1 gives for raw.
func NewText(raw, text, rawMap []byte) (*Text, error) {
	skips, err := correspond(raw, text, rawMap)
	if err != nil {
		return nil, err
	}
	t := &Text{
		text:      string(text),
		rawSHA256: canon.Digest(raw),
		sha256:    canon.Digest(text),
		rawSize:   len(raw),
		skips:     skips,
	}
	startsLine := true
	for i, r := range t.text {
		if t.points%stride == 0 {
			t.marks = append(t.marks, i)
		}
		if startsLine {
			t.lines = append(t.lines, line{i, t.points})
		}
		startsLine = r == '\n'
		t.points++
	}
	return t, nil
}

// String is the whole normalized text.
func (t *Text) String() string { return t.text }

// Len is the number of code points.
func (t *Text) Len() int { return t.points }

// SHA256 is the digest of the normalized text.
func (t *Text) SHA256() string { return t.sha256 }

// RawSHA256 is the digest of the raw source, a BOM included.
func (t *Text) RawSHA256() string { return t.rawSHA256 }

// RawSize is the raw source's size in bytes.
func (t *Text) RawSize() int { return t.rawSize }

// Normalizer is the ID of the rule that made the text.
func (t *Text) Normalizer() string { return TextV1 }

// byteOf is the byte offset of a code point in [0, Len()].
func (t *Text) byteOf(point int) int {
	if len(t.text) == t.points { // ASCII
		return point
	}
	if point == t.points {
		return len(t.text)
	}
	at := t.marks[point/stride]
	for range point % stride {
		_, n := utf8.DecodeRuneInString(t.text[at:])
		at += n
	}
	return at
}

// rawOf is the raw offset of a byte offset of the text. Skips at the offset itself count, so a span
// that ends after a line's LF covers the whole CRLF, and the first code point stands after the BOM.
func (t *Text) rawOf(at int) int {
	i := sort.Search(len(t.skips), func(i int) bool { return t.skips[i].at > at })
	if i == 0 {
		return at
	}
	return at + t.skips[i-1].total
}
