package main

import (
	"fmt"
	"strings"
	"unicode"
)

// invisible is what a reader does not see or what changes how other words are seen: controls,
// format characters (bidirectional marks, zero-width forms, tags, soft hyphens), line and paragraph
// separators, private use, and everything that Unicode lets a display leave out.
var invisible = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp,
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
}

// escape makes one line of others' words safe to show. keep lists invisible characters that pass.
func escape(line, keep string) string {
	var b strings.Builder
	for at, r := range line {
		switch {
		case r == '\\' && strings.HasPrefix(line[at:], `\u{`):
			b.WriteString(`\u{5C}`)
		case unicode.IsOneOf(invisible, r) && !strings.ContainsRune(keep, r):
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// name shows a name or code within the dossier's own lines: as it is when it is plain, quoted when
// it could be read as more than one word, and as a dash when there is none.
func name(s string) string {
	if s == "" {
		return "-"
	}
	if strings.IndexFunc(s, notPlain) < 0 && s != "-" {
		return s
	}
	return `"` + strings.ReplaceAll(escape(s, ""), `"`, `\u{22}`) + `"`
}

func notPlain(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune("._-+/@:", r)
}

// short is the first 12 digits of a digest; the appendix has it in full.
func short(digest string) string {
	if len(digest) <= 12 || strings.IndexFunc(digest, notPlain) >= 0 {
		return name(digest)
	}
	return digest[:12]
}
