package main

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/guest"
	"github.com/writ-kernel/writ/abi/wasm"
)

func init() { guest.Handle(wasm.KindReader, wasm.OpStructure, serve) }

func main() {}

func serve(req guest.Request) (guest.Answer, error) {
	if at := invalid(req.Body); at >= 0 {
		return guest.Answer{}, guest.Refuse(wasm.CodeInvalidUTF8, at, "")
	}
	body, err := json.Marshal(structure(req.Body))
	if err != nil {
		return guest.Answer{}, err
	}
	if limit := req.Limits.OutputBytes; limit > 0 && int64(len(body)) > limit-headerRoom {
		if body, err = json.Marshal(whole(req.Body)); err != nil {
			return guest.Answer{}, err
		}
	}
	return guest.Answer{Body: [][]byte{body}}, nil
}

// headerRoom is kept free of the output limit for the answer's header line.
const headerRoom = 512

// invalid is the offset of the first byte that is not UTF-8, or -1.
func invalid(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}
