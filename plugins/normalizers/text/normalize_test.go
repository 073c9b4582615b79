package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/guest"
	"github.com/writ-kernel/writ/abi/wasm"
)

func TestNormalize(t *testing.T) {
	edge := strings.Repeat("a", 8191) + "\u00e9z"
	long := strings.Repeat("x", 70000) + "\nnext\n"
	for name, c := range map[string]struct {
		raw, text, rawMap string
		lines             int
	}{
		"empty text has no lines":               {"", "", "", 0},
		"unterminated piece is a line":          {"a", "a", "", 1},
		"LF ends a line":                        {"a\n", "a\n", "", 1},
		"two LF are two lines":                  {"\n\n", "\n\n", "", 2},
		"BOM before a heading":                  {bom + "# One\n\n## Two\n", "# One\n\n## Two\n", "\x00\x03", 3},
		"BOM before front matter":               {bom + "---\ntitle: T\n---\n# H\n", "---\ntitle: T\n---\n# H\n", "\x00\x03", 4},
		"BOM before a setext heading":           {bom + "Title\n=====\n", "Title\n=====\n", "\x00\x03", 2},
		"BOM alone":                             {bom, "", "\x00\x03", 0},
		"second BOM is text":                    {bom + bom + "a", bom + "a", "\x00\x03", 1},
		"BOM in mid-text is kept":               {"a" + bom + "b", "a" + bom + "b", "", 1},
		"BOM before CRLF":                       {bom + "\r\n", "\n", "\x00\x03\x01\x01", 1},
		"CRLF becomes LF":                       {"a\r\nbc\r\n", "a\nbc\n", "\x02\x01\x03\x01", 2},
		"lone CR becomes LF":                    {"a\rb\r", "a\nb\n", "", 2},
		"CR CR LF is two lines":                 {"a\r\r\nb", "a\n\nb", "\x03\x01", 3},
		"LF CR is two lines":                    {"a\n\rb", "a\n\nb", "", 3},
		"mixed ends":                            {"a\r\nb\rc\nd\r\n", "a\nb\nc\nd\n", "\x02\x01\x06\x01", 4},
		"long run before CRLF":                  {strings.Repeat("y", 200) + "\r\nz", strings.Repeat("y", 200) + "\nz", "\xc9\x01\x01", 2},
		"NEL, U+2028, U+2029 end no line":       {"a\u0085b\u2028c\u2029d", "a\u0085b\u2028c\u2029d", "", 1},
		"TAB and FF pass, FF ends no line":      {"a\tb\fc", "a\tb\fc", "", 1},
		"DEL and C1 pass":                       {"\x7f\u0080\u009f", "\x7f\u0080\u009f", "", 1},
		"bidi, zero width and tags pass":        {"\u202e\u200b\U000e0041", "\u202e\u200b\U000e0041", "", 1},
		"U+FFFD in the source is a character":   {"a\ufffdb", "a\ufffdb", "", 1},
		"noncharacters and the last plane pass": {"\uffff\U0010ffff", "\uffff\U0010ffff", "", 1},
		"composed and decomposed stay apart":    {"caf\u00e9 cafe\u0301", "caf\u00e9 cafe\u0301", "", 1},
		"order of marks stays":                  {"q\u0307\u0323 q\u0323\u0307", "q\u0307\u0323 q\u0323\u0307", "", 1},
		"forty marks on one base":               {"e" + strings.Repeat("\u0301", 40), "e" + strings.Repeat("\u0301", 40), "", 1},
		"ligature, soft hyphen, no-break forms": {"of\ufb01ce co\u00adop \u201cnon\u2011b\u201d 10\u00a0km \ufdfa", "of\ufb01ce co\u00adop \u201cnon\u2011b\u201d 10\u00a0km \ufdfa", "", 1},
		"soft hyphen before a line end":         {"Kata\u00ad\nlog", "Kata\u00ad\nlog", "", 2},
		"white space is not trimmed":            {"  a  \n\n  ", "  a  \n\n  ", "", 3},
		"character over byte 8192":              {edge, edge, "", 1},
		"line of 70,000 bytes and one after it": {long, long, "", 2},
		"character over an eight-byte boundary": {"1234567\u20ac9", "1234567\u20ac9", "", 1},
		"CRLF over an eight-byte boundary":      {"1234567\r\n9", "1234567\n9", "\x08\x01", 2},
		"four-byte character at the end":        {"abc\U0001f600", "abc\U0001f600", "", 1},
	} {
		n, refusal := normalize([]byte(c.raw))
		if refusal != nil {
			t.Errorf("%s: %v", name, refusal)
			continue
		}
		if string(n.text) != c.text || string(n.rawMap) != c.rawMap || n.lines != c.lines || n.bom != strings.HasPrefix(c.raw, bom) {
			t.Errorf("%s: text %.60q, map %q, %d lines, bom %t", name, n.text, n.rawMap, n.lines, n.bom)
		}
	}
}

func TestNormalizeRefusesAtTheOffset(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		code string
		at   int
	}{
		"two bad bytes in a row":        {"a\xff\xfeb", wasm.CodeInvalidUTF8, 1},
		"surrogate":                     {"\xed\xa0\x80", wasm.CodeInvalidUTF8, 0},
		"low surrogate":                 {"ab\xed\xbf\xbf", wasm.CodeInvalidUTF8, 2},
		"overlong slash":                {"\xc0\xaf", wasm.CodeInvalidUTF8, 0},
		"overlong NUL":                  {"a\xc0\x80", wasm.CodeInvalidUTF8, 1},
		"overlong, three bytes":         {"a\xe0\x80\xaf", wasm.CodeInvalidUTF8, 1},
		"overlong, four bytes":          {"a\xf0\x80\x80\xaf", wasm.CodeInvalidUTF8, 1},
		"beyond U+10FFFF":               {"a\xf4\x90\x80\x80", wasm.CodeInvalidUTF8, 1},
		"five-byte form":                {"\xf8\x88\x80\x80\x80", wasm.CodeInvalidUTF8, 0},
		"lone continuation":             {"12345678\x80", wasm.CodeInvalidUTF8, 8},
		"cut at the end":                {"abc\xe2\x82", wasm.CodeInvalidUTF8, 3},
		"cut before a line end":         {"abc\xe2\x82\r\n", wasm.CodeInvalidUTF8, 3},
		"cut at byte 8192":              {strings.Repeat("a", 8191) + "\xc3", wasm.CodeInvalidUTF8, 8191},
		"UTF-16 LE with its mark":       {"\xff\xfea\x00", wasm.CodeInvalidUTF8, 0},
		"UTF-16 BE with its mark":       {"\xfe\xff\x00a", wasm.CodeInvalidUTF8, 0},
		"UTF-16 without a mark":         {"a\x00b\x00", wasm.CodeControlCharacter, 1},
		"UTF-32":                        {"\xff\xfe\x00\x00", wasm.CodeInvalidUTF8, 0},
		"two bytes of a BOM":            {"\xef\xbb", wasm.CodeInvalidUTF8, 0},
		"bad byte after a BOM":          {bom + "a\xff", wasm.CodeInvalidUTF8, 4},
		"NUL":                           {"abcdefgh\x00", wasm.CodeControlCharacter, 8},
		"VT":                            {"a\vb", wasm.CodeControlCharacter, 1},
		"ESC":                           {"a\x1b[31m", wasm.CodeControlCharacter, 1},
		"offset is raw, not normalized": {"a\r\nb\r\n\x07", wasm.CodeControlCharacter, 6},
		"first fault wins":              {"\x01\xff", wasm.CodeControlCharacter, 0},
	} {
		_, refusal := normalize([]byte(c.raw))
		if refusal == nil || refusal.Code != c.code || refusal.Offset != c.at {
			t.Errorf("%s: %v", name, refusal)
		}
	}
	for c := range byte(0x20) {
		_, refusal := normalize([]byte{'a', c})
		if allowed := c == '\t' || c == '\n' || c == '\f' || c == '\r'; (refusal == nil) != allowed {
			t.Errorf("control %#x: %v", c, refusal)
		}
	}
}

func TestServeFramesTheAnswer(t *testing.T) {
	frame := `{"abi":"writ/1","kind":"normalizer","media_type":"text/plain","op":"normalize","zz":[1]}` + "\n" + bom + "a\r\n"
	answer, code := guest.Serve([]byte(frame))
	want := `{"abi":"writ/1","bom":true,"kind":"normalizer","lines":1,"map_bytes":4,"op":"normalize","text_bytes":2}` + "\na\n\x00\x03\x02\x01"
	if code != 0 || string(answer) != want {
		t.Errorf("code %d, answer %q", code, answer)
	}
}

// plain applies the rules one byte at a time, in the most obvious way.
func plain(raw []byte) (text []byte, pairs []string, lines, bad int) {
	at, mapped := 0, 0
	if bytes.HasPrefix(raw, []byte(bom)) {
		at, pairs = 3, append(pairs, "0+3")
	}
	for at < len(raw) {
		r, size := utf8.DecodeRune(raw[at:])
		switch {
		case r == utf8.RuneError && size == 1, r < 0x20 && !strings.ContainsRune("\t\n\f\r", r):
			return nil, nil, 0, at
		case r == '\r' && at+1 < len(raw) && raw[at+1] == '\n':
			text = append(text, '\n')
			pairs = append(pairs, fmt.Sprintf("%d+1", len(text)-mapped))
			mapped = len(text)
			at += 2
			continue
		case r == '\r':
			text = append(text, '\n')
		default:
			text = append(text, raw[at:at+size]...)
		}
		at += size
	}
	lines = strings.Count(string(text), "\n")
	if len(text) > 0 && text[len(text)-1] != '\n' {
		lines++
	}
	return text, pairs, lines, -1
}

func agrees(t *testing.T, raw []byte) {
	t.Helper()
	text, pairs, lines, bad := plain(raw)
	n, refusal := normalize(bytes.Clone(raw))
	if refusal != nil {
		if bad != refusal.Offset {
			t.Fatalf("%q: refused at %d, expected %d", raw, refusal.Offset, bad)
		}
		return
	}
	var got []string
	for m := n.rawMap; len(m) > 0; {
		run, skip, rest, ok := m.Next()
		if !ok {
			t.Fatalf("%q: malformed map %q", raw, n.rawMap)
		}
		got, m = append(got, fmt.Sprintf("%d+%d", run, skip)), rest
	}
	if bad >= 0 || !bytes.Equal(n.text, text) || n.lines != lines || strings.Join(got, " ") != strings.Join(pairs, " ") {
		t.Fatalf("%q: text %q, map %v, %d lines; expected %q, %v, %d, refusal at %d", raw, n.text, got, n.lines, text, pairs, lines, bad)
	}
}

func TestNormalizeAgreesWithThePlainRules(t *testing.T) {
	pieces := []string{"a", "bcdefg", "12345678", "\r", "\n", "\r\n", "\t", "\f", "é", "€", "😀", bom, "\x00", "\xff", "\xc3", "\x1f", " ", "\u0085"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var raw []byte
		for range random.IntN(12) {
			usual := 12
			if random.IntN(10) == 0 {
				usual = len(pieces)
			}
			raw = append(raw, pieces[random.IntN(usual)]...)
		}
		agrees(t, raw)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"", "a\r\nb", bom + "é\r", "\xed\xa0\x80", "12345678\r\n12345678\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { agrees(t, raw) })
}

func TestRawOffsetLeadsBackToTheRawBytes(t *testing.T) {
	raw := []byte(bom + "ab\r\ncd\re\r\n\r\nf")
	n, refusal := normalize(bytes.Clone(raw))
	if refusal != nil {
		t.Fatal(refusal)
	}
	for at, c := range n.text {
		got := raw[n.rawMap.RawOffset(at)]
		if got != c && !(got == '\r' && c == '\n') {
			t.Errorf("text byte %d is %q, raw byte is %q", at, c, got)
		}
	}
	if end := n.rawMap.RawOffset(len(n.text)); end != len(raw) {
		t.Errorf("the end maps to %d of %d", end, len(raw))
	}
}
