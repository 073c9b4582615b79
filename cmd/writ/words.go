package main

import (
	"strings"

	"github.com/writ-kernel/writ/kernel/evidence"
)

func joinIDs(ids []string) string { return evidence.Visible(strings.Join(ids, ", ")) }

// shellWord quotes a word for a POSIX shell where it needs to be.
func shellWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
