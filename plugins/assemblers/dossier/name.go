package main

import (
	"strings"

	"github.com/writ-kernel/writ/abi/visible"
)

// name shows a name or code within the dossier's own lines: as it is when it is plain, quoted when
// it could be read as more than one word, and as a dash when there is none.
func name(s string) string {
	if s == "" {
		return "-"
	}
	if strings.IndexFunc(s, notPlain) < 0 && s != "-" {
		return s
	}
	return `"` + oneLine.Replace(visible.Text(s)) + `"`
}

// oneLine keeps what visible.Text lets pass from ending the line or the quotes.
var oneLine = strings.NewReplacer("\n", `\u{000A}`, "\t", `\u{0009}`, `"`, `\u{0022}`)

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
