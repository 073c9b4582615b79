package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/guest"
	"github.com/writ-kernel/writ/abi/wasm"
)

// maxText is the most bytes a dossier may have.
const maxText = 64 << 10

func init() { guest.Handle(wasm.KindAssembler, wasm.OpAssemble, serve) }

func main() {}

func serve(req guest.Request) (guest.Answer, error) {
	var d wasm.Dossier
	if err := decode(req.Body, &d); err != nil {
		return guest.Answer{}, guest.Refuse(wasm.CodeBadInput, guest.NoOffset, err.Error())
	}
	if err := check(d); err != nil {
		return guest.Answer{}, guest.Refuse(wasm.CodeBadInput, guest.NoOffset, err.Error())
	}
	text, placement := assemble(d)
	if len(text) > maxText {
		return guest.Answer{}, guest.Refuse(wasm.CodeOutputLimit, guest.NoOffset,
			fmt.Sprintf("the dossier has %d bytes, at most %d are allowed", len(text), maxText))
	}
	places, err := json.Marshal(placement)
	if err != nil {
		return guest.Answer{}, err
	}
	return guest.Answer{
		Fields: []guest.Field{guest.Int("text_bytes", len(text)), guest.Int("placement_bytes", len(places))},
		Body:   [][]byte{text, places},
	}, nil
}

// decode reads the one JSON value that the host wrote. The standard decoder makes a module of two
// thirds the size and half the compile time of abi/canon's; what it lets pass beyond that, a repeated
// or differently cased member, canonical JSON of a host does not hold. The errors hold no input.
func decode(body []byte, d *wasm.Dossier) error {
	if !utf8.Valid(body) { // or the decoder would put U+FFFD in place of the bytes
		return errors.New("not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	var field *json.UnmarshalTypeError
	switch err := dec.Decode(d); {
	case errors.As(err, &field):
		return fmt.Errorf("%s: not what the schema says", field.Field)
	case err != nil:
		return fmt.Errorf("not JSON of %s, or with an unknown field", wasm.DossierSchema)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}
