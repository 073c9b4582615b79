package wasm

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	abi "github.com/writ-kernel/writ/abi/wasm"
)

func TestTheBuiltNormalizerKeepsItsRules(t *testing.T) {
	p, m := newPool(t, Config{Workers: 1}), textModule(t)
	for name, c := range map[string]struct {
		raw, text, rawMap string
		lines             int
		bom               bool
	}{
		"empty":                   {"", "", "", 0, false},
		"BOM and headings":        {"\xef\xbb\xbf# One\n\n## Two\n", "# One\n\n## Two\n", "\x00\x03", 3, true},
		"mixed line ends":         {"a\r\nb\rc\nd", "a\nb\nc\nd", "\x02\x01", 4, false},
		"character over an edge":  {strings.Repeat("a", 8191) + "éz", strings.Repeat("a", 8191) + "éz", "", 1, false},
		"a line of 70,000 bytes":  {strings.Repeat("x", 70000) + "\nnext\n", strings.Repeat("x", 70000) + "\nnext\n", "", 2, false},
		"decomposed stays so":     {"cafe\u0301 \ufb01 \u00ad\u2011\u00a0\ufdfa", "cafe\u0301 \ufb01 \u00ad\u2011\u00a0\ufdfa", "", 1, false},
		"a long run before CRLF":  {strings.Repeat("x", 300) + "\r\n", strings.Repeat("x", 300) + "\n", "\xad\x02\x01", 1, false},
		"a quarter million lines": {strings.Repeat("\r\n", 1<<18), strings.Repeat("\n", 1<<18), strings.Repeat("\x01\x01", 1<<18), 1 << 18, false},
	} {
		n, err := Normalize(t.Context(), p, m, []byte(c.raw), Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if string(n.Text) != c.text || string(n.Map) != c.rawMap || n.Lines != c.lines || n.BOM != c.bom {
			t.Errorf("%s: %.80q, map %.80q, %d lines, bom %t", name, n.Text, n.Map, n.Lines, n.BOM)
		}
		if n.ModuleSHA256 != m.SHA256 {
			t.Errorf("%s: no receipt", name)
		}
	}
	for raw, want := range map[string]GuestError{
		"a\xff\xfeb":   {Code: abi.CodeInvalidUTF8, Offset: 1},
		"\xed\xa0\x80": {Code: abi.CodeInvalidUTF8, Offset: 0},
		"\xc0\xaf":     {Code: abi.CodeInvalidUTF8, Offset: 0},
		"ok\x00":       {Code: abi.CodeControlCharacter, Offset: 2},
	} {
		_, err := Normalize(t.Context(), p, m, []byte(raw), Limits{})
		want.Module, want.Run = "normalizer text.v1", abi.RunRefused
		if g, ok := errors.AsType[*GuestError](err); !ok || *g != want {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestCRLFTextDoesNotOutgrowTheOutputLimit(t *testing.T) {
	raw := bytes.Repeat([]byte("\r\n"), 1<<19)
	n, err := Normalize(t.Context(), newPool(t, Config{Workers: 1}), textModule(t), raw, Limits{})
	if err != nil || n.Lines != 1<<19 {
		t.Fatal(n.Lines, err)
	}
}
