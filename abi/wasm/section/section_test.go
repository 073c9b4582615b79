package section

import (
	"bytes"
	"errors"
	"testing"

	"github.com/writ-kernel/writ/abi/wasm"
)

const header = "\x00asm\x01\x00\x00\x00"

func TestReadFindsImportsOfEveryKindByName(t *testing.T) {
	entries := "\x04" +
		"\x04writ\x03log\x00\x00" + // func
		"\x01a\x01t\x01\x70\x00\x01" + // table
		"\x01a\x01m\x02\x01\x01\x02" + // memory with a maximum
		"\x01a\x01g\x03\x7f\x00" // global
	module := header + "\x02" + string(rune(len(entries))) + entries
	m, err := Read([]byte(module))
	if err != nil {
		t.Fatal(err)
	}
	want := []Import{{"writ", "log", "func"}, {"a", "t", "table"}, {"a", "m", "memory"}, {"a", "g", "global"}}
	if len(m.Imports) != len(want) {
		t.Fatalf("imports %v", m.Imports)
	}
	for i := range want {
		if m.Imports[i] != want[i] {
			t.Errorf("import %d is %v", i, m.Imports[i])
		}
	}
	if m.HasStart {
		t.Error("start section seen where there is none")
	}
}

func TestReadRefusesWhatIsCutOrLies(t *testing.T) {
	for name, module := range map[string]string{
		"empty":             "",
		"text":              "hello, this is text",
		"version 2":         "\x00asm\x02\x00\x00\x00",
		"length past end":   header + "\x00\x7f\x01a",
		"name past section": header + "\x00\x02\x09a",
		"huge length":       header + "\x00\xff\xff\xff\xff\x0f",
		"five byte overrun": header + "\x00\xff\xff\xff\xff\x7f",
		"import count lies": header + "\x02\x05\xff\xff\xff\xff\x0f",
		"import kind":       header + "\x02\x06\x01\x01a\x01b\x09",
		"import trailing":   header + "\x02\x02\x00\x00",
	} {
		if _, err := Read([]byte(module)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadSeesAStartSection(t *testing.T) {
	m, err := Read([]byte(header + "\x08\x01\x00"))
	if err != nil || !m.HasStart {
		t.Fatal(m, err)
	}
}

func TestAppendedSectionReadsBack(t *testing.T) {
	data := bytes.Repeat([]byte("x"), 300)
	m, err := Read(Append([]byte(header), "a.b", data))
	if err != nil {
		t.Fatal(err)
	}
	got, found, err := m.Custom("a.b")
	if err != nil || !found || !bytes.Equal(got, data) {
		t.Fatal(len(got), found, err)
	}
	if _, found, _ := m.Custom("a"); found {
		t.Error("another name was found")
	}
}

func TestTwoManifestsAreRefused(t *testing.T) {
	module := Append(Append([]byte(header), wasm.ManifestSection, []byte(`{}`)), wasm.ManifestSection, []byte(`{"name":"b"}`))
	m, err := Read(module)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Manifest(); !errors.Is(err, ErrMalformed) {
		t.Fatal(err)
	}
}

func FuzzReadNeverPanics(f *testing.F) {
	f.Add([]byte(header + "\x00\x02\x01a"))
	f.Add([]byte(header + "\x02\x06\x01\x01a\x01b\x00"))
	f.Fuzz(func(t *testing.T, module []byte) {
		if m, err := Read(module); err == nil {
			_, _ = m.Manifest()
		}
	})
}
