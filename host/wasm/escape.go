package wasm

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape makes bytes that a module or a worker wrote safe to show: what a terminal might obey, and
// what a reader could not see, stands as a visible escape. Line feeds and tabs stay.
func escape(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&s, `\x%02x`, b[0])
		case r == '\n' || r == '\t' || strconv.IsPrint(r):
			s.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&s, `\x%02x`, r)
		default:
			fmt.Fprintf(&s, `\u{%x}`, r)
		}
		b = b[size:]
	}
	return s.String()
}

func clip(b []byte, limit int) []byte { return b[:min(len(b), limit)] }
