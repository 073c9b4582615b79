package wasm

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	abi "github.com/writ-kernel/writ/abi/wasm"
)

// NormalizeResult is a normalized text, the map back to its raw bytes, and the receipt.
type NormalizeResult struct {
	Text  []byte
	Map   abi.RawMap
	Lines int
	BOM   bool
	Result
}

// Normalize runs a normalizer over raw bytes. Beyond what Call checks, the
// text is UTF-8, the map is well formed and accounts for every raw byte, and lines and BOM are as
// stated. That the text is the right one byte for byte is for kernel/evidence to prove.
func Normalize(ctx context.Context, p *Pool, m Module, raw []byte, limits Limits) (NormalizeResult, error) {
	r, err := p.Call(ctx, m, Request{Op: abi.OpNormalize, MediaType: abi.MediaAny, Body: raw}, limits)
	if err != nil {
		return NormalizeResult{}, err
	}
	n, err := checkNormalized(raw, r)
	if err != nil {
		return NormalizeResult{}, r.broken(m, err)
	}
	return n, nil
}

func checkNormalized(raw []byte, r Result) (NormalizeResult, error) {
	var h abi.NormalizeHeader
	if err := json.Unmarshal(r.Header, &h); err != nil {
		return NormalizeResult{}, err
	}
	text, rawMap, err := split(r.Body, h.TextBytes, h.MapBytes)
	if err != nil {
		return NormalizeResult{}, err
	}
	if !utf8.Valid(text) {
		return NormalizeResult{}, fmt.Errorf("text is not UTF-8")
	}
	if err := checkRawMap(rawMap, len(text), len(raw)); err != nil {
		return NormalizeResult{}, err
	}
	if lines := abi.Lines(text); int64(lines) != h.Lines {
		return NormalizeResult{}, fmt.Errorf("%d lines stated, %d found", h.Lines, lines)
	}
	if bom := bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")); bom != h.BOM {
		return NormalizeResult{}, fmt.Errorf("bom is stated as %t", h.BOM)
	}
	return NormalizeResult{Text: text, Map: rawMap, Lines: int(h.Lines), BOM: h.BOM, Result: r}, nil
}

func checkRawMap(m abi.RawMap, textBytes, rawBytes int) error {
	text, raw := 0, textBytes
	for len(m) > 0 {
		run, skip, rest, ok := m.Next()
		if !ok {
			return fmt.Errorf("map is malformed")
		}
		if skip == 0 || run == 0 && text > 0 {
			return fmt.Errorf("map has an empty pair")
		}
		text, raw, m = text+run, raw+skip, rest
		if text > textBytes || raw > rawBytes {
			return fmt.Errorf("map reaches beyond the text or the raw bytes")
		}
	}
	if raw != rawBytes {
		return fmt.Errorf("map accounts for %d of %d raw bytes", raw, rawBytes)
	}
	return nil
}

// split cuts a body into its two parts, whose stated sizes must be exact.
func split(body []byte, first, second int64) (a, b []byte, err error) {
	size := int64(len(body))
	if first < 0 || second < 0 || first > size || second != size-first {
		return nil, nil, fmt.Errorf("parts of %d and %d bytes stated in a body of %d", first, second, size)
	}
	return body[:first:first], body[first:], nil
}

func (r Result) broken(m Module, err error) error {
	return failed(&Fault{Kind: FaultAnswer, Module: nameOf(m), Detail: escape([]byte(err.Error())), Log: r.Log})
}
