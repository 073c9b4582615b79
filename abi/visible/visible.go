package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kinds of code points that do not show as what they are.
const (
	Bidi      = "bidi"       // reorder the text around them
	ZeroWidth = "zero_width" // joiners, zero-width spaces, invisible operators, U+FEFF
	Tag       = "tag"        // invisible copies of ASCII
	Variation = "variation"  // variation selectors
	Ignorable = "ignorable"  // soft hyphen, fillers and other format characters without a shape
	Control   = "control"    // DEL, C1 controls, U+2028 and U+2029
)

// Kind says how r misleads, or "". C0 controls have no kind: which of them a text may hold is the
// rule of its normalizer.
func Kind(r rune) string {
	switch {
	case r < 0x7f:
		return ""
	case r < 0xa0, r == '\u2028', r == '\u2029':
		return Control
	case unicode.Is(unicode.Bidi_Control, r):
		return Bidi
	case r >= 0xe0000 && r <= 0xe007f:
		return Tag
	case unicode.Is(unicode.Variation_Selector, r):
		return Variation
	case r >= 0x200b && r <= 0x200d, r >= 0x2060 && r <= 0x2064, r == 0xfeff:
		return ZeroWidth
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // format characters with a shape
		return ""
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return Ignorable
	}
	return ""
}

// Text makes s safe to print: code points with a kind and C0 controls other than TAB and LF become
// \u{202E}, invalid bytes become \x{FF}. A backslash of the text that would read as one of these is
// itself escaped, so that the text cannot fake an escape.
func Text(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x{%02X}`, s[i])
		case r < 0x20 && r != '\t' && r != '\n', Kind(r) != "",
			r == '\\' && (strings.HasPrefix(s[i+1:], "u{") || strings.HasPrefix(s[i+1:], "x{")):
			fmt.Fprintf(&b, `\u{%04X}`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Safe reports that every code point of s has a shape of its own and stays where it stands, so that s
// can be printed as it is. Text that an assembler wrote is safe already; escaping it again would show
// other bytes than the artifact holds.
func Safe(s string) bool {
	for _, r := range s {
		if r < 0x20 && r != '\t' && r != '\n' || Kind(r) != "" {
			return false
		}
	}
	return utf8.ValidString(s)
}
