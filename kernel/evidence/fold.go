package evidence

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of folding. One code point becomes at most maxGrowth; U+FDFA, which would become eighteen,
// stays itself. Marks are put in canonical order at most maxMarks at a time, as Unicode's
// stream-safe format does, so that a base with endless marks costs linear time.
const (
	maxGrowth = 4
	maxMarks  = 30
)

type foldMode int

const (
	// foldCanonical makes NFC and NFD spellings equal and nothing else.
	foldCanonical foldMode = iota
	// foldFull also ignores ligatures and other compatibility forms, soft hyphens (with the line
	// break after one), invisible characters, the shapes of quotes and dashes, and the kind and
	// amount of white space.
	foldFull
)

// folded is a text under folding: each rune with the code points [from, to) it came from and its
// canonical combining class.
type folded struct {
	runes    []rune
	from, to []int
	class    []uint8
}

func fold(s string, mode foldMode) *folded {
	f, in := &folded{}, []rune(s)
	for i := 0; i < len(in); {
		switch {
		case mode == foldCanonical:
			f.decompose(norm.NFD, in[i], i)
			i++
		case invisible(in[i]) || unicode.IsSpace(in[i]):
			i = f.gap(in, i)
		default:
			f.decompose(norm.NFKD, in[i], i)
			i++
		}
	}
	f.orderMarks()
	return f
}

// gap takes a whole run of white space and invisible code points at once and returns its end. White
// space becomes one space, and nothing if a soft hyphen stands before a line break: it had been
// shown as a hyphen, and one word goes on below it.
func (f *folded) gap(in []rune, i int) int {
	first, last := -1, -1
	hyphen, breaks := false, false
	for ; i < len(in) && (unicode.IsSpace(in[i]) || invisible(in[i])); i++ {
		switch r := in[i]; {
		case unicode.IsSpace(r):
			if first < 0 {
				first = i
			}
			last = i
			breaks = breaks || r == '\n'
		case r == softHyphen:
			hyphen = hyphen || first < 0
		}
	}
	if first >= 0 && !(hyphen && breaks) {
		f.add(' ', first, last+1)
	}
	return i
}

func (f *folded) add(r rune, from, to int) {
	var class uint8
	if r >= utf8.RuneSelf { // no mark is ASCII
		var b [utf8.UTFMax]byte
		class = norm.NFD.Properties(b[:utf8.EncodeRune(b[:], r)]).CCC()
	}
	f.runes = append(f.runes, r)
	f.from = append(f.from, from)
	f.to = append(f.to, to)
	f.class = append(f.class, class)
}

// decompose adds code point i in its decomposed form. A compatibility form that grows too much, or
// that would put a space inside a word, falls back to the canonical one.
func (f *folded) decompose(form norm.Form, r rune, i int) {
	if form == norm.NFKD {
		r = plain(r)
	}
	if r < utf8.RuneSelf {
		f.add(r, i, i+1)
		return
	}
	var in, out [64]byte
	d := form.Append(out[:0], in[:utf8.EncodeRune(in[:], r)]...)
	if form == norm.NFKD && (utf8.RuneCount(d) > maxGrowth || bytes.ContainsRune(d, ' ')) {
		d = norm.NFD.Append(out[:0], in[:utf8.EncodeRune(in[:], r)]...)
	}
	for _, part := range string(d) {
		if form == norm.NFKD {
			part = plain(part)
		}
		f.add(part, i, i+1)
	}
}

// orderMarks sorts each run of combining marks by class, keeping the order of equals.
func (f *folded) orderMarks() {
	for i := 0; i < len(f.runes); {
		if f.class[i] == 0 {
			i++
			continue
		}
		end := i
		for end < len(f.runes) && f.class[end] != 0 && end-i < maxMarks {
			end++
		}
		for j := i + 1; j < end; j++ {
			for k := j; k > i && f.class[k-1] > f.class[k]; k-- {
				f.swap(k-1, k)
			}
		}
		i = end
	}
}

func (f *folded) swap(i, j int) {
	f.runes[i], f.runes[j] = f.runes[j], f.runes[i]
	f.from[i], f.from[j] = f.from[j], f.from[i]
	f.to[i], f.to[j] = f.to[j], f.to[i]
	f.class[i], f.class[j] = f.class[j], f.class[i]
}

// plain is the ASCII shape of a quotation mark, prime or dash; any other rune is its own.
func plain(r rune) rune {
	switch r {
	case '\u2018', '\u2019', '\u201a', '\u201b', '\u2032', '\u2039', '\u203a':
		return '\''
	case '\u201c', '\u201d', '\u201e', '\u201f', '\u2033', '\u00ab', '\u00bb':
		return '"'
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212':
		return '-'
	}
	return r
}

// trimmed is f without outer white space.
func (f *folded) trimmed() *folded {
	i, j := 0, len(f.runes)
	for i < j && unicode.IsSpace(f.runes[i]) {
		i++
	}
	for i < j && unicode.IsSpace(f.runes[j-1]) {
		j--
	}
	return &folded{runes: f.runes[i:j], from: f.from[i:j], to: f.to[i:j], class: f.class[i:j]}
}

// find looks for the first occurrence of quote that begins and ends between characters, so that it
// neither splits a ligature nor parts a letter from its marks. It returns the code points the
// occurrence came from, and whether it is all of f but outer white space.
func (f *folded) find(quote *folded) (from, to int, whole, found bool) {
	text, quote := f.trimmed(), quote.trimmed()
	n := len(quote.runes)
	edges := text.edges()
	for _, i := range occurrences(text.runes, quote.runes) {
		if edges[i] && edges[i+n] {
			return text.from[i], slices.Max(text.to[i : i+n]), n == len(text.runes), true
		}
	}
	return 0, 0, false, false
}

// edges reports for each position whether a character begins there: a starter whose source lies
// beyond the source of everything before it.
func (f *folded) edges() []bool {
	edges := make([]bool, len(f.runes)+1)
	beyond := 0
	for i := range f.runes {
		edges[i] = f.class[i] == 0 && f.from[i] >= beyond
		beyond = max(beyond, f.to[i])
	}
	edges[len(f.runes)] = true
	return edges
}

// occurrences lists where part begins in text, by Knuth, Morris and Pratt: linear whatever the
// input, which strings.Index repeated over hostile text is not.
func occurrences(text, part []rune) []int {
	if len(part) == 0 || len(part) > len(text) {
		return nil
	}
	back := make([]int, len(part)) // longest border of part[:i+1]
	for i, k := 1, 0; i < len(part); i++ {
		for k > 0 && part[i] != part[k] {
			k = back[k-1]
		}
		if part[i] == part[k] {
			k++
		}
		back[i] = k
	}
	var at []int
	k := 0
	for i, r := range text {
		for k > 0 && (k == len(part) || r != part[k]) {
			k = back[k-1]
		}
		if r == part[k] {
			k++
		}
		if k == len(part) {
			at = append(at, i+1-k)
		}
	}
	return at
}
