package main

import (
	"errors"
	"fmt"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/guest"
	"github.com/writ-kernel/writ/abi/wasm"
)

// maxText is the most bytes a dossier may have.
const maxText = 64 << 10

func init() { guest.Handle(wasm.KindAssembler, wasm.OpAssemble, serve) }

func main() {}

func serve(req guest.Request) (guest.Answer, error) {
	var d wasm.Dossier
	if err := canon.Unmarshal(req.Body, &d); err != nil {
		return guest.Answer{}, guest.Refuse(wasm.CodeBadInput, guest.NoOffset, badField(err))
	}
	if err := check(d); err != nil {
		return guest.Answer{}, guest.Refuse(wasm.CodeBadInput, guest.NoOffset, err.Error())
	}
	text, placement := assemble(d)
	if len(text) > maxText {
		return guest.Answer{}, guest.Refuse(wasm.CodeOutputLimit, guest.NoOffset,
			fmt.Sprintf("the dossier has %d bytes, at most %d are allowed", len(text), maxText))
	}
	places, err := canon.Marshal(placement)
	if err != nil {
		return guest.Answer{}, err
	}
	return guest.Answer{
		Fields: []guest.Field{guest.Int("text_bytes", len(text)), guest.Int("placement_bytes", len(places))},
		Body:   [][]byte{text, places},
	}, nil
}

// badField names the field that does not decode. The decoder's own words may hold input.
func badField(err error) string {
	var field *canon.FieldError
	switch {
	case !errors.As(err, &field):
		return "not JSON"
	case field.Unknown:
		return field.Field + ": unknown field"
	case field.Duplicate:
		return field.Field + ": duplicate field"
	case field.UTF8:
		return field.Field + ": invalid UTF-8"
	}
	return field.Field + ": not what the schema says"
}
