package main

import (
	"strings"

	"github.com/writ-kernel/writ/abi/visible"
)

func joinIDs(ids []string) string { return visible.Text(strings.Join(ids, ", ")) }

// shellWord quotes a word for a POSIX shell where it needs to be.
func shellWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
