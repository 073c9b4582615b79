package wasm

import "bytes"

// Lines counts the lines of a normalized text: LF ends a line, a last piece without LF is a line
// too, and the empty text has none.
func Lines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
