package evidence

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kinds of code points that hide, reorder or fake what a reader sees.
const (
	FlagBidi      = "bidi"       // reorder the text around them
	FlagZeroWidth = "zero_width" // joiners, zero-width spaces, invisible operators, U+FEFF
	FlagTag       = "tag"        // invisible copies of ASCII
	FlagVariation = "variation"  // variation selectors
	FlagIgnorable = "ignorable"  // soft hyphen, fillers and other format characters without a shape
	FlagControl   = "control"    // DEL, C1 controls, U+2028 and U+2029
)

var flagKinds = []string{FlagBidi, FlagZeroWidth, FlagTag, FlagVariation, FlagIgnorable, FlagControl}

// Flag reports one kind: how many code points, and where they stand.
type Flag struct {
	Kind   string `json:"kind"`
	Count  int    `json:"count"`
	Ranges []Span `json:"ranges"` // code points of the text, in order, adjoining ones made one
}

// Flags finds what a person should be told about s. The text itself is kept as it is.
func Flags(s string) []Flag {
	found := map[string]*Flag{}
	at := 0
	for _, r := range s {
		if kind := flagOf(r); kind != "" {
			f := found[kind]
			if f == nil {
				f = &Flag{Kind: kind}
				found[kind] = f
			}
			f.Count++
			if n := len(f.Ranges); n > 0 && f.Ranges[n-1].End == at {
				f.Ranges[n-1].End++
			} else {
				f.Ranges = append(f.Ranges, Span{at, at + 1})
			}
		}
		at++
	}
	var out []Flag
	for _, kind := range flagKinds {
		if f := found[kind]; f != nil {
			out = append(out, *f)
		}
	}
	return out
}

const softHyphen = '\u00ad'

// flagOf classifies by Unicode's own properties, so that new characters follow the tables.
func flagOf(r rune) string {
	switch {
	case r < 0x7f:
		return ""
	case r < 0xa0, r == '\u2028', r == '\u2029':
		return FlagControl
	case unicode.Is(unicode.Bidi_Control, r):
		return FlagBidi
	case r >= 0xe0000 && r <= 0xe007f:
		return FlagTag
	case unicode.Is(unicode.Variation_Selector, r):
		return FlagVariation
	case r >= 0x200b && r <= 0x200d, r >= 0x2060 && r <= 0x2064, r == 0xfeff:
		return FlagZeroWidth
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // format characters with a shape
		return ""
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return FlagIgnorable
	}
	return ""
}

// invisible reports a code point that shows nothing of its own and is no control.
func invisible(r rune) bool {
	kind := flagOf(r)
	return kind != "" && kind != FlagControl
}

// Visible makes s safe to print: flagged code points and controls other than TAB and LF become
// \u{202E}, invalid bytes become \x{FF}. A backslash of the text that would read as one of these is
// itself escaped, so that the text cannot fake an escape.
func Visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x{%02X}`, s[i])
		case r < 0x20 && r != '\t' && r != '\n', flagOf(r) != "",
			r == '\\' && (strings.HasPrefix(s[i+1:], "u{") || strings.HasPrefix(s[i+1:], "x{")):
			fmt.Fprintf(&b, `\u{%04X}`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}
