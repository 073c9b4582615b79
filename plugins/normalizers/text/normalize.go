package main

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/guest"
	"github.com/writ-kernel/writ/abi/wasm"
)

type normalized struct {
	text   []byte
	rawMap wasm.RawMap
	lines  int
	bom    bool
}

const bom = "\xef\xbb\xbf"

// Constants for eight bytes at a time. Adding 0x60 to a byte below 0x80 sets its high bit exactly
// when the byte is 0x20 or more, and carries into no neighbour. A byte of 0x80 or more has its high
// bit set already, so clearing the word's own bits makes it fail whatever was carried.
const (
	add60 = 0x6060606060606060
	high  = 0x8080808080808080
)

// normalize works in place: line ends only shrink, so the text is never ahead of what is read, and
// whole runs between line ends move by one copy, or stay where they are while none has shrunk.
func normalize(raw []byte) (normalized, *guest.Error) {
	var n normalized
	at := 0
	if len(raw) >= len(bom) && string(raw[:len(bom)]) == bom {
		n.bom = true
		n.rawMap = n.rawMap.AppendPair(0, len(bom))
		at = len(bom)
	}
	text := raw[at:]
	// Bytes [run, at) of raw are clean and not yet at their place; mapped is the text offset of the
	// last pair of the map.
	out, run, mapped := 0, at, 0
	for {
		for len(raw)-at >= 8 {
			w := binary.LittleEndian.Uint64(raw[at:])
			if (w+add60)&^w&high != high {
				break
			}
			at += 8
		}
		if at == len(raw) {
			break
		}
		switch c := raw[at]; {
		case c == '\n':
			n.lines++
			at++
		case c == '\r':
			n.lines++
			raw[at] = '\n'
			at++
			if at < len(raw) && raw[at] == '\n' {
				out += move(text[out:], raw[run:at])
				n.rawMap = n.rawMap.AppendPair(out-mapped, 1)
				at++
				run, mapped = at, out
			}
		case c >= 0x20 && c < utf8.RuneSelf || c == '\t' || c == '\f':
			at++
		case c < 0x20:
			return normalized{}, guest.Refuse(wasm.CodeControlCharacter, at, "")
		default:
			_, size := utf8.DecodeRune(raw[at:])
			if size == 1 {
				return normalized{}, guest.Refuse(wasm.CodeInvalidUTF8, at, "")
			}
			at += size
		}
	}
	out += move(text[out:], raw[run:at])
	n.text = text[:out]
	if out > 0 && n.text[out-1] != '\n' {
		n.lines++
	}
	return n, nil
}

func move(to, from []byte) int {
	if len(from) == 0 || &to[0] == &from[0] {
		return len(from)
	}
	return copy(to, from)
}
