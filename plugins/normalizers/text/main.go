package main

import (
	"github.com/writ-kernel/writ/abi/guest"
	"github.com/writ-kernel/writ/abi/wasm"
)

func init() { guest.Handle(wasm.KindNormalizer, wasm.OpNormalize, serve) }

func main() {}

func serve(req guest.Request) (guest.Answer, error) {
	n, refusal := normalize(req.Body)
	if refusal != nil {
		return guest.Answer{}, refusal
	}
	return guest.Answer{
		Fields: []guest.Field{
			guest.Int("text_bytes", len(n.text)),
			guest.Int("map_bytes", len(n.rawMap)),
			guest.Int("lines", n.lines),
			guest.Bool("bom", n.bom),
		},
		Body: [][]byte{n.text, n.rawMap},
	}, nil
}
