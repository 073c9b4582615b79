package wasm

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/writ-kernel/writ/abi/canon"
	abi "github.com/writ-kernel/writ/abi/wasm"
)

// requestHeader is a request header with one field that no module knows. Its name and value change
// with the body, so that no module can come to rely on the fields it has seen.
func requestHeader(kind string, req Request, limits Limits) ([]byte, error) {
	digest := canon.Digest(req.Body)
	members := map[string]any{
		"abi":                  abi.ABI,
		"kind":                 kind,
		"limits":               limits.header(),
		"media_type":           req.MediaType,
		"op":                   req.Op,
		"grease_" + digest[:8]: []any{digest[8:16], map[string]any{"op": digest[16:20]}, nil, -1.5},
	}
	raw, err := canon.Marshal(members)
	if err != nil {
		return nil, err
	}
	return append(raw, '\n'), nil
}

// checkAnswer turns what a worker brought back into a result or a typed error. Fields of the header
// that nobody knows are ignored, as modules ignore the host's.
func checkAnswer(m Module, req Request, a answered) (Result, error) {
	broken := func(format string, args ...any) (Result, error) {
		detail := escape([]byte(fmt.Sprintf(format, args...)))
		return Result{}, failed(&Fault{Kind: FaultAnswer, Module: nameOf(m), Detail: detail, Log: a.log})
	}
	header, body, found := bytes.Cut(a.output, []byte{'\n'})
	if !found {
		return broken("run returned %d and no header line", a.meta.Run)
	}
	canonical, err := canon.Canonicalize(header)
	if err != nil {
		return broken("header: %v", err)
	}
	if !bytes.Equal(canonical, header) {
		return broken("header is not canonical JSON")
	}
	var h abi.AnswerHeader
	if err := json.Unmarshal(header, &h); err != nil {
		return broken("header: %v", err)
	}
	if h.ABI != abi.ABI || h.Kind != m.Manifest.Kind || h.Op != req.Op {
		return broken("header speaks of %q %q %q", h.ABI, h.Kind, h.Op)
	}
	result := Result{
		Header: header, Body: body, Log: a.log, Wall: a.wall,
		PeakMemory: a.meta.PeakMemory, ModuleSHA256: m.SHA256, Engine: a.engine,
	}
	if a.meta.Run == abi.RunOK {
		if h.Error != nil {
			return broken("run returned 0 and an error header")
		}
		return result, nil
	}
	if h.Error == nil || len(body) > 0 {
		return broken("run returned %d without a bare error header", a.meta.Run)
	}
	guest, err := guestError(m, a.meta.Run, h.Error, len(req.Body))
	if err != nil {
		return broken("%v", err)
	}
	result.Header, result.Body = nil, nil
	return result, failed(guest)
}

func guestError(m Module, run int32, h *abi.ErrorHeader, bodyBytes int) (*GuestError, error) {
	switch run {
	case abi.RunRefused, abi.RunBadRequest, abi.RunInternal:
	default:
		return nil, fmt.Errorf("run returned %d, which means nothing", run)
	}
	if !isCode(h.Code) {
		return nil, fmt.Errorf("error code %.70q", h.Code)
	}
	if len(h.Detail) > 512 {
		return nil, fmt.Errorf("error detail of %d bytes", len(h.Detail))
	}
	e := &GuestError{Module: nameOf(m), Run: run, Code: h.Code, Detail: escape([]byte(h.Detail)), Offset: NoOffset}
	if h.Offset != nil {
		if *h.Offset < 0 || *h.Offset > int64(bodyBytes) {
			return nil, fmt.Errorf("error offset %d in a body of %d bytes", *h.Offset, bodyBytes)
		}
		e.Offset = *h.Offset
	}
	return e, nil
}

func isCode(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
