package lock

import (
	"strings"
	"testing"

	"github.com/writ-kernel/writ/abi/wasm"
)

var (
	a = wasm.LockedEntry{File: "model-a", Kind: wasm.KindModel, Name: "a", SHA256: strings.Repeat("a", 64), Size: 1, Version: "1"}
	b = wasm.LockedEntry{File: "reader-b.wasm", Kind: wasm.KindReader, Name: "b", SHA256: strings.Repeat("b", 64), Size: 2, Version: "1.0.0"}
)

func TestOneListHasOneByteSequence(t *testing.T) {
	x, err := Marshal([]wasm.LockedEntry{b, a})
	if err != nil {
		t.Fatal(err)
	}
	y, err := Marshal([]wasm.LockedEntry{a, b})
	if err != nil || string(x) != string(y) {
		t.Fatalf("%s\n%s\n%v", x, y, err)
	}
	if l, err := Parse(x); err != nil || len(l.Plugins) != 2 || l.Plugins[0] != a {
		t.Fatal(l, err)
	}
	if _, err := Marshal(nil); err != nil {
		t.Errorf("an empty lock: %v", err)
	}
}

func TestEveryOtherByteSequenceIsRefused(t *testing.T) {
	raw, err := Marshal([]wasm.LockedEntry{a, b})
	if err != nil {
		t.Fatal(err)
	}
	good := string(raw)
	for name, bad := range map[string]string{
		"empty":         "",
		"trailing LF":   good + "\n",
		"space":         strings.Replace(good, ":", ": ", 1),
		"unknown":       strings.Replace(good, `"abi"`, `"aaa":1,"abi"`, 1),
		"duplicate":     strings.Replace(good, `{"abi":"writ/1",`, `{"abi":"writ/1","abi":"writ/1",`, 1),
		"abi":           strings.Replace(good, "writ/1", "writ/2", 1),
		"kind":          strings.Replace(good, `"model"`, `"oracle"`, 1),
		"order":         strings.Replace(strings.Replace(strings.Replace(good, `"name":"a"`, `"name":"c"`, 1), `"model"`, `"reader"`, 1), `"model-a"`, `"x"`, 1),
		"twice":         strings.Replace(strings.Replace(good, `"model"`, `"reader"`, 1), `"name":"a"`, `"name":"b"`, 1),
		"same file":     strings.Replace(good, "model-a", "reader-b.wasm", 1),
		"path":          strings.Replace(good, "model-a", "../model-a", 1),
		"hidden":        strings.Replace(good, "model-a", ".model-a", 1),
		"option":        strings.Replace(good, "model-a", "-model-a", 1),
		"no name":       strings.Replace(good, `"name":"a"`, `"name":""`, 1),
		"no version":    strings.Replace(good, `"version":"1"`, `"version":""`, 1),
		"upper digest":  strings.Replace(good, strings.Repeat("a", 64), strings.Repeat("A", 64), 1),
		"short digest":  strings.Replace(good, strings.Repeat("a", 64), strings.Repeat("a", 63), 1),
		"empty file":    strings.Replace(good, `"size":1`, `"size":0`, 1),
		"negative size": strings.Replace(good, `"size":1`, `"size":-1`, 1),
		"huge size":     strings.Replace(good, `"size":1`, `"size":268435457`, 1),
	} {
		if bad == good {
			t.Fatalf("%s changes nothing", name)
		}
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	raw, _ := Marshal([]wasm.LockedEntry{a, b})
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := Marshal(l.Plugins)
		if err != nil || string(again) != string(raw) {
			t.Fatalf("%s became %s: %v", raw, again, err)
		}
	})
}
