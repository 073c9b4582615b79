package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/abi/wasm/section"
)

func newBuilder(t *testing.T) builder {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	b := builder{root: root, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(b.dir, workDir), 0o755); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestABuildDependsOnTheSourcesOnlyAndCarriesTheManifest(t *testing.T) {
	manifest, err := readManifest("../normalizers/text/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	p := plugin{manifest, "./plugins/normalizers/text"}
	first, second := newBuilder(t), newBuilder(t)
	a, err := first.plugin(p)
	if err != nil {
		t.Fatal(err)
	}
	b, err := second.plugin(p)
	if err != nil || a != b {
		t.Fatalf("%v, %v, %v", a, b, err)
	}
	raw, err := os.ReadFile(filepath.Join(first.dir, a.File))
	if err != nil || canon.Digest(raw) != a.SHA256 {
		t.Fatal(err)
	}
	module, err := section.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := module.Manifest(); err != nil || m.Name != "text.v1" || m.Kind != wasm.KindNormalizer {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := first.plugin(plugin{manifest, "./plugins/none"}); err == nil {
		t.Error("a package that is not there was built")
	}
}

func TestASameFileIsNotTouchedAndAGoneOneIsRemoved(t *testing.T) {
	b := newBuilder(t)
	file := filepath.Join(b.dir, "reader-x.wasm")
	if err := writeChanged(file, []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Unix(1000, 0)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	if err := writeChanged(file, []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || !info.ModTime().Equal(old) {
		t.Error("the file was written again")
	}
	if err := writeChanged(file, []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "2" {
		t.Errorf("%q, %v", raw, err)
	}
	if err := b.sweep([]wasm.LockedEntry{{File: "other"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Error("a file that no lock names stayed")
	}
}

func TestBuildsIntoOneFolderWaitForEachOther(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(file)
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan func())
	go func() {
		again, err := lockFile(file)
		if err != nil {
			t.Error(err)
			again = func() {}
		}
		held <- again
	}()
	select {
	case <-held:
		t.Fatal("two builds hold the folder")
	case <-time.After(50 * time.Millisecond):
	}
	unlock()
	(<-held)()
}

func TestManifestsAreReadStrictly(t *testing.T) {
	for name, raw := range map[string]string{
		"unknown field": `{"abi":"writ/1","kind":"reader","name":"x","version":"1","authority":"all"}`,
		"other abi":     `{"abi":"writ/2","kind":"reader","name":"x","version":"1"}`,
		"adapter abi":   `{"abi":"writ/1","kind":"model","name":"x","version":"1"}`,
		"no JSON":       `kind: reader`,
	} {
		if _, err := parseManifest("manifest.json", []byte(raw)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestFirstPartyPluginsStandInTheFolderOfTheirKind(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "plugins", "readers", "x")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(kind string) {
		raw := `{"abi":"writ/1","kind":"` + kind + `","name":"x","version":"1"}`
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(raw), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("reader")
	found, err := discover(root)
	if err != nil || len(found) != 1 || found[0].pkg != "./plugins/readers/x" {
		t.Fatal(found, err)
	}
	write("assembler")
	if _, err := discover(root); err == nil {
		t.Error("an assembler among the readers was accepted")
	}
}

func TestExtrasAreNamedInFull(t *testing.T) {
	var e extras
	if err := e.Set("model:counting=./x/y"); err != nil || e[0].manifest.Name != "counting" || e[0].manifest.ABI != "writ.provider.v1" || e[0].pkg != "./x/y" {
		t.Error(e, err)
	}
	for _, bad := range []string{"", "model", "model:x", "model=./x", ":x=./x", "model:=./x", "model:x="} {
		if e.Set(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
