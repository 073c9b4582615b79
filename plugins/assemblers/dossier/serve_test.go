package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/guest"
	"github.com/writ-kernel/writ/abi/wasm"
)

func request(body []byte) []byte {
	header, _ := json.Marshal(wasm.RequestHeader{ABI: wasm.ABI, Kind: wasm.KindAssembler, Op: wasm.OpAssemble, MediaType: wasm.MediaDossier})
	return append(append(header, '\n'), body...)
}

func body(t testing.TB, d wasm.Dossier) []byte {
	t.Helper()
	raw, err := canon.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAnswerCarriesTextAndPlacement(t *testing.T) {
	answer, code := guest.Serve(request(body(t, whole())))
	line, rest, _ := bytes.Cut(answer, []byte("\n"))
	var h wasm.AssembleHeader
	if err := json.Unmarshal(line, &h); err != nil || code != wasm.RunOK || int(h.TextBytes+h.PlacementBytes) != len(rest) {
		t.Fatalf("code %d, header %s, %v", code, line, err)
	}
	var p wasm.Placement
	if err := canon.Unmarshal(rest[h.TextBytes:], &p); err != nil {
		t.Fatal(err)
	}
	checkPlacement(t, whole(), rest[:h.TextBytes], p)
}

func TestManifestsThatBreakAPromiseAreRefused(t *testing.T) {
	raw := string(body(t, whole()))
	change := func(f func(*wasm.Dossier)) string {
		d := fill(whole(), "x")
		f(&d)
		return string(body(t, d))
	}
	for name, c := range map[string]struct{ body, code, detail string }{
		"not JSON":           {"hello", wasm.CodeBadInput, ""},
		"trailing data":      {raw + "{}", wasm.CodeBadInput, ""},
		"unknown field":      {`{"secret words":1,` + raw[1:], wasm.CodeBadInput, "unknown field"},
		"wrong type":         {strings.Replace(raw, `"complete":true`, `"complete":"secret words"`, 1), wasm.CodeBadInput, "complete: not what the schema says"},
		"invalid UTF-8":      {strings.Replace(raw, "Operators", "\xff", 1), wasm.CodeBadInput, "not UTF-8"},
		"schema":             {change(func(d *wasm.Dossier) { d.Schema = "writ.dossier.v2" }), wasm.CodeBadInput, "schema:"},
		"complete in part":   {change(func(d *wasm.Dossier) { d.Slots[1].State = "blocked" }), wasm.CodeBadInput, "slots[1].state:"},
		"no slots":           {change(func(d *wasm.Dossier) { d.Slots, d.Conflicts = nil, nil }), wasm.CodeBadInput, "slots: none"},
		"slot twice":         {change(func(d *wasm.Dossier) { d.Slots[1].Slot = 1 }), wasm.CodeBadInput, "slots[1].slot:"},
		"slot zero":          {change(func(d *wasm.Dossier) { d.Slots[0].Slot = 0 }), wasm.CodeBadInput, "slots[0].slot:"},
		"adopted unverified": {change(func(d *wasm.Dossier) { d.Slots[0].Claims[1].Citations[1].Status = statusNear }), wasm.CodeBadInput, "slots[0].claims[1].adopted:"},
		"adopted unquoted":   {change(func(d *wasm.Dossier) { d.Slots[0].Claims[0].Citations = nil }), wasm.CodeBadInput, "slots[0].claims[0].adopted:"},
		"conflict of none":   {change(func(d *wasm.Dossier) { d.Conflicts[0].Claims[1].Claim = 7 }), wasm.CodeBadInput, "conflicts[0].claims[1]:"},
		"over 64 KiB":        {change(func(d *wasm.Dossier) { d.Slots[0].Claims[0].Text = strings.Repeat("word ", 14_000) }), wasm.CodeOutputLimit, "at most 65536"},
		"over by escaping":   {change(func(d *wasm.Dossier) { d.Slots[0].Claims[0].Text = strings.Repeat("\u200b", 9_000) }), wasm.CodeOutputLimit, "at most 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, code := guest.Serve(request([]byte(c.body)))
			var h wasm.AnswerHeader
			if err := json.Unmarshal(answer, &h); err != nil || code != wasm.RunRefused {
				t.Fatalf("code %d, answer %.200q, %v", code, answer, err)
			}
			if h.Error.Code != c.code || !strings.Contains(h.Error.Detail, c.detail) || strings.Contains(h.Error.Detail, "secret words\"") {
				t.Errorf("error %+v", h.Error)
			}
		})
	}
}

func TestManifestIsStrictJSON(t *testing.T) {
	raw, err := os.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m wasm.Manifest
	if err := canon.Unmarshal(raw, &m); err != nil || m.ABI != wasm.ABI || m.Kind != wasm.KindAssembler || m.Name != "dossier.v1" || m.MediaTypes[0] != wasm.MediaDossier {
		t.Fatalf("%+v, %v", m, err)
	}
}

func FuzzServeNeverPanics(f *testing.F) {
	f.Add(body(f, whole()))
	f.Add(body(f, partial()))
	f.Fuzz(func(t *testing.T, body []byte) { guest.Serve(request(body)) })
}
