package main

import (
	"encoding/json"
	"math"
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
	limit, most := req.Limits.OutputBytes-headerRoom, noLimit
	if req.Limits.OutputBytes > 0 {
		most = int(limit / leastSegment)
	}
	body, err := json.Marshal(structure(req.Body, most))
	if err != nil {
		return guest.Answer{}, err
	}
	if req.Limits.OutputBytes > 0 && int64(len(body)) > limit {
		if body, err = json.Marshal(whole(req.Body)); err != nil {
			return guest.Answer{}, err
		}
	}
	return guest.Answer{Body: [][]byte{body}}, nil
}

const (
	headerRoom   = 512 // bytes of the output limit that are kept for the answer's header line
	leastSegment = 40  // no segment takes fewer bytes of JSON, so more of them need not be made
	noLimit      = math.MaxInt
)

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
