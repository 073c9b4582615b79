package registry

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/abi/wasm/lock"
	"github.com/writ-kernel/writ/abi/wasm/section"
)

func module(t *testing.T, m wasm.Manifest) []byte {
	t.Helper()
	raw, err := canon.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return section.Append([]byte("\x00asm\x01\x00\x00\x00"), wasm.ManifestSection, raw)
}

func entry(kind, name string, raw []byte) wasm.LockedEntry {
	return wasm.LockedEntry{File: kind + "-" + name, Kind: kind, Name: name, SHA256: canon.Digest(raw), Size: int64(len(raw)), Version: "1.0.0"}
}

// build makes a folder with one reader and one model.
func build(t *testing.T) (fstest.MapFS, wasm.Manifest) {
	t.Helper()
	manifest := wasm.Manifest{ABI: wasm.ABI, Kind: wasm.KindReader, MediaTypes: []string{"text/plain"}, Name: "text", SDK: "go", Version: "1.0.0"}
	reader, model := module(t, manifest), []byte("#!/bin/true\n")
	raw, err := lock.Marshal([]wasm.LockedEntry{entry(wasm.KindReader, "text", reader), entry(wasm.KindModel, "m", model)})
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{
		wasm.LockFile: {Data: raw},
		"reader-text": {Data: reader},
		"model-m":     {Data: model, Mode: 0o755},
	}, manifest
}

func pin(t *testing.T, digest string) {
	t.Helper()
	old := BuildLock
	BuildLock = digest
	t.Cleanup(func() { BuildLock = old })
}

func TestLoadGivesVouchedBytesAndTheirManifest(t *testing.T) {
	fsys, manifest := build(t)
	pin(t, canon.Digest(fsys[wasm.LockFile].Data))
	r, err := Open(fsys)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Load(wasm.KindReader, "text")
	if err != nil || string(p.Bytes) != string(fsys["reader-text"].Data) || p.SHA256 != canon.Digest(p.Bytes) || !slices.Equal(p.Manifest.MediaTypes, manifest.MediaTypes) {
		t.Errorf("%+v, %v", p.Manifest, err)
	}
	p, err = r.Load(wasm.KindModel, "m")
	if err != nil || p.Manifest.Name != "m" || p.Manifest.Version != "1.0.0" {
		t.Errorf("%+v, %v", p.Manifest, err)
	}
	if list := r.List(); len(list) != 2 || list[0].Kind != wasm.KindModel || r.LockSHA256() != BuildLock {
		t.Errorf("%v", list)
	}
}

func TestEveryChangedByteIsRefusedNamingBothDigests(t *testing.T) {
	fsys, _ := build(t)
	r, err := Open(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Load(wasm.KindReader, "text"); err != nil {
		t.Fatal(err)
	}
	good := fsys["reader-text"].Data
	for i := range good {
		changed := slices.Clone(good)
		changed[i] ^= 1
		fsys["reader-text"] = &fstest.MapFile{Data: changed}
		_, err := r.Load(wasm.KindReader, "text") // loaded before, hashed again
		wantDigest(t, err, canon.Digest(good), canon.Digest(changed))
	}
	for _, changed := range [][]byte{good[:len(good)-1], append(slices.Clone(good), 0), nil} {
		fsys["reader-text"] = &fstest.MapFile{Data: changed}
		_, err := r.Load(wasm.KindReader, "text")
		wantDigest(t, err, canon.Digest(good), canon.Digest(changed))
	}
}

func TestAFileThatGrewIsRefusedWithoutReadingItAll(t *testing.T) {
	fsys, _ := build(t)
	r, err := Open(fsys)
	if err != nil {
		t.Fatal(err)
	}
	good := fsys["model-m"].Data
	fsys["model-m"] = &fstest.MapFile{Data: make([]byte, 1<<20)}
	_, err = r.Load(wasm.KindModel, "m")
	wantDigest(t, err, canon.Digest(good), canon.Digest(make([]byte, len(good)+1)))
}

func wantDigest(t *testing.T, err error, expected, actual string) {
	t.Helper()
	e, ok := reason.As(err)
	if !ok || e.Code != writv1.Reason_REASON_PLUGIN_DIGEST || !strings.Contains(e.Detail, expected) ||
		!strings.Contains(e.Detail, actual) || !strings.Contains(e.Next, "make build") {
		t.Fatalf("%v", err)
	}
}

func TestALockTheBinaryWasNotBuiltWithIsRefused(t *testing.T) {
	fsys, _ := build(t)
	other := canon.Digest([]byte("another lock"))
	pin(t, other)
	_, err := Open(fsys)
	wantDigest(t, err, other, canon.Digest(fsys[wasm.LockFile].Data))
}

func TestAMalformedLockIsRefusedWhole(t *testing.T) {
	fsys, _ := build(t)
	fsys[wasm.LockFile] = &fstest.MapFile{Data: append(fsys[wasm.LockFile].Data, '\n')}
	if _, err := Open(fsys); !reason.Is(err, writv1.Reason_REASON_PLUGIN_DIGEST) {
		t.Fatal(err)
	}
}

func TestWhatIsMissingIsNotFound(t *testing.T) {
	fsys, _ := build(t)
	if _, err := Open(fstest.MapFS{}); !reason.Is(err, writv1.Reason_REASON_NOT_FOUND) {
		t.Error(err)
	}
	r, err := Open(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Load(wasm.KindAssembler, "text"); !reason.Is(err, writv1.Reason_REASON_NOT_FOUND) {
		t.Error(err)
	}
	delete(fsys, "reader-text")
	if _, err := r.Load(wasm.KindReader, "text"); !reason.Is(err, writv1.Reason_REASON_NOT_FOUND) {
		t.Error(err)
	}
	fsys["reader-text"] = &fstest.MapFile{Mode: fs.ModeDir}
	if _, err := r.Load(wasm.KindReader, "text"); !reason.Is(err, writv1.Reason_REASON_PLUGIN_DIGEST) {
		t.Error(err)
	}
}

func TestAModuleThatCallsItselfSomethingElseIsRefused(t *testing.T) {
	good := wasm.Manifest{ABI: wasm.ABI, Kind: wasm.KindReader, Name: "text", Version: "1.0.0"}
	for name, change := range map[string]func(*wasm.Manifest){
		"abi":     func(m *wasm.Manifest) { m.ABI = "writ/2" },
		"kind":    func(m *wasm.Manifest) { m.Kind = wasm.KindAssembler },
		"name":    func(m *wasm.Manifest) { m.Name = "other" },
		"version": func(m *wasm.Manifest) { m.Version = "2" },
	} {
		m := good
		change(&m)
		raw := module(t, m)
		locked, err := lock.Marshal([]wasm.LockedEntry{entry(wasm.KindReader, "text", raw)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(fstest.MapFS{wasm.LockFile: {Data: locked}, "reader-text": {Data: raw}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Load(wasm.KindReader, "text"); !reason.Is(err, writv1.Reason_REASON_PLUGIN_DIGEST) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
