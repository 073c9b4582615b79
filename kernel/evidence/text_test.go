package evidence

import (
	"math/rand/v2"
	"strings"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/wasm"
)

func TestRawThatIsNoTextNamesTheByte(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"two bad bytes", "a\xff\xfeb", "invalid UTF-8 at byte 1"},
		{"surrogate", "\xed\xa0\x80", "invalid UTF-8 at byte 0"},
		{"overlong", "\xc0\xaf", "invalid UTF-8 at byte 0"},
		{"cut at the end", "ab\xe2\x82", "invalid UTF-8 at byte 2"},
		{"beyond Unicode", "\xf4\x90\x80\x80", "invalid UTF-8 at byte 0"},
		{"offset counts the BOM", "\xef\xbb\xbfa\xff", "invalid UTF-8 at byte 4"},
		{"offset counts CRLF twice", "\r\n\r\n\xff", "invalid UTF-8 at byte 4"},
		{"half a BOM", "\xef\xbb", "invalid UTF-8 at byte 0"},
		{"UTF-16", "\xff\xfea\x00", "invalid UTF-8 at byte 0"},
		{"NUL", "ab\x00", "control character U+0000 at byte 2"},
		{"vertical tab", "\v", "control character U+000B at byte 0"},
		{"escape", "a\x1b[0m", "control character U+001B at byte 1"},
		{"the first fault wins", "\x01\xff", "control character U+0001 at byte 0"},
		{"far into the text", strings.Repeat("é", 5000) + "\xe9", "invalid UTF-8 at byte 10000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewText([]byte(c.raw), []byte(c.raw), nil)
			if !reason.Is(err, writv1.Reason_REASON_NOT_TEXT) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want not_text with %q", err, c.want)
			}
		})
	}
}

func TestTextKeepsEverythingButLineEndsAndOneBOM(t *testing.T) {
	for raw, want := range map[string]string{
		"":                         "",
		"\ufeff":                   "",
		"\ufeff\ufeffx":            "\ufeffx",
		"a\ufeffb":                 "a\ufeffb",
		"\ufeff# One\n\n## Two\n":  "# One\n\n## Two\n",
		"a\r\nb\rc\nd":             "a\nb\nc\nd",
		"\r\r\n\n\r":               "\n\n\n\n",
		"\ufeff\r\n":               "\n",
		"e\u0301 \u2028\u0085\f\t": "e\u0301 \u2028\u0085\f\t",
		"\ufffd is a real one":     "\ufffd is a real one",
		"\x7f\u009b":               "\x7f\u009b",
	} {
		text := mustText(t, raw)
		if text.String() != want {
			t.Errorf("%q became %q, want %q", raw, text, want)
		}
		if text.RawSHA256() != canon.Digest([]byte(raw)) || text.SHA256() != canon.Digest([]byte(want)) || text.RawSize() != len(raw) {
			t.Errorf("%q: wrong digests or size", raw)
		}
	}
}

func TestAnswerThatIsNotTheNormalizationIsRefused(t *testing.T) {
	pairs := func(n ...int) (m wasm.RawMap) {
		for i := 0; i < len(n); i += 2 {
			m = m.AppendPair(n[i], n[i+1])
		}
		return m
	}
	const raw = "\ufeffa\r\nb\rc"
	good := pairs(0, 3, 2, 1)
	if _, err := NewText([]byte(raw), []byte("a\nb\nc"), good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		rawMap     []byte
	}{
		{"altered text", "a\nB\nc", good},
		{"text too short", "a\nb\n", good},
		{"text too long", "a\nb\ncc", good},
		{"empty text", "", good},
		{"CR left in", "a\r\nb\rc", good},
		{"lone CR left in", "a\nb\rc", good},
		{"BOM left in", raw[:3] + "a\nb\nc", good},
		{"repair mark", "a\nb\n\ufffd", good},
		{"no map", "a\nb\nc", nil},
		{"BOM entry missing", "a\nb\nc", pairs(2, 1)},
		{"CRLF entry missing", "a\nb\nc", pairs(0, 3)},
		{"CRLF entry before its LF", "a\nb\nc", pairs(0, 3, 1, 1)},
		{"entry for a lone CR", "a\nb\nc", pairs(0, 3, 2, 1, 2, 0)},
		{"extra entry", "a\nb\nc", pairs(0, 3, 2, 1, 0, 0)},
		{"entries merged", "a\nb\nc", pairs(2, 4)},
		{"long form varint", "a\nb\nc", []byte{0x80, 0x00, 3, 2, 1}},
		{"cut in a pair", "a\nb\nc", good[:3]},
		{"trailing byte", "a\nb\nc", append(append([]byte{}, good...), 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := NewText([]byte(raw), []byte(c.text), c.rawMap); !reason.Is(err, writv1.Reason_REASON_PLUGIN_FAILED) {
				t.Fatalf("got %v, want plugin_failed", err)
			}
		})
	}
}

func TestOnlyLFEndsALine(t *testing.T) {
	for raw, want := range map[string]int{
		"": 0, "\ufeff": 0, "a": 1, "\n": 1, "a\n": 1, "a\nb": 2, "\n\n": 2, "\r\n\r": 2,
		"a\fb\u0085c\u2028d\u2029e":             1,
		strings.Repeat("x", 70000) + "\nnext\n": 2,
	} {
		text := mustText(t, raw)
		if text.Lines() != want || wasm.Lines([]byte(text.String())) != want {
			t.Errorf("%.20q: %d lines, guests count %d, want %d", raw, text.Lines(), wasm.Lines([]byte(text.String())), want)
		}
	}
}

func TestLineRangeOutsideTheTextIsOutOfRange(t *testing.T) {
	three, none := mustText(t, "a\nb\nc"), mustText(t, "")
	for _, c := range []struct {
		text     *Text
		from, to int
	}{{three, 0, 1}, {three, -1, 2}, {three, 2, 1}, {three, 1, 4}, {three, 4, 4}, {none, 1, 1}, {none, 0, 0}} {
		if _, err := c.text.LineRange(c.from, c.to); !reason.Is(err, writv1.Reason_REASON_OUT_OF_RANGE) {
			t.Errorf("lines %d to %d: %v", c.from, c.to, err)
		}
	}
	if s, err := three.LineRange(2, 2); err != nil || s != (Span{2, 4}) {
		t.Errorf("line 2 is %v, %v", s, err)
	}
	for _, s := range []Span{{-1, 1}, {2, 1}, {0, 6}, {6, 6}} {
		if _, err := three.Cut(s); !reason.Is(err, writv1.Reason_REASON_OUT_OF_RANGE) {
			t.Errorf("cut %v: %v", s, err)
		}
		if _, _, err := three.RawRange(s); !reason.Is(err, writv1.Reason_REASON_OUT_OF_RANGE) {
			t.Errorf("raw range %v: %v", s, err)
		}
		if _, err := three.SpanSHA256(s); err == nil {
			t.Errorf("digest of %v", s)
		}
	}
}

func TestHeadingAfterBOMStartsAtRawByteThree(t *testing.T) {
	with, without := mustText(t, "\ufeff# One\r\n"), mustText(t, "# One\r\n")
	a, b, _ := with.RawRange(Span{0, 6})
	if a != 3 || b != 10 {
		t.Errorf("raw range [%d, %d), want [3, 10)", a, b)
	}
	if with.SHA256() != without.SHA256() || with.RawSHA256() == without.RawSHA256() {
		t.Error("the text is the same, the source is not")
	}
}

// Everything the index answers is compared with the obvious slow answer.
func TestIndexAgreesWithNaiveArithmetic(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		raw := random(r, 300)
		text := mustText(t, raw)
		_, rawMap, _ := naive([]byte(raw))
		runes := []rune(text.String())
		if text.Len() != len(runes) {
			t.Fatalf("seed %d: %d code points, want %d", seed, text.Len(), len(runes))
		}
		at := 1
		for i, c := range runes {
			if got := text.LineOf(i); got != at {
				t.Fatalf("seed %d: code point %d on line %d, want %d", seed, i, got, at)
			}
			if c == '\n' {
				at++
			}
		}
		if text.LineOf(-1) != 0 || text.LineOf(len(runes)) != 0 {
			t.Fatalf("seed %d: a line for no code point", seed)
		}
		var whole strings.Builder
		for n := 1; n <= text.Lines(); n++ {
			s, err := text.LineRange(n, n)
			if err != nil {
				t.Fatal(err)
			}
			cut, _ := text.Cut(s)
			if strings.Count(strings.TrimSuffix(cut, "\n"), "\n") != 0 || cut == "" {
				t.Fatalf("seed %d: line %d is %q", seed, n, cut)
			}
			whole.WriteString(cut)
		}
		if whole.String() != text.String() {
			t.Fatalf("seed %d: lines do not give the text back", seed)
		}
		for range 40 {
			i := r.IntN(len(runes) + 1)
			j := i + r.IntN(len(runes)+1-i)
			cut, err := text.Cut(Span{i, j})
			if err != nil || cut != string(runes[i:j]) {
				t.Fatalf("seed %d: cut [%d, %d) = %q, %v", seed, i, j, cut, err)
			}
			from, to, err := text.RawRange(Span{i, j})
			if err != nil {
				t.Fatal(err)
			}
			if want := wasm.RawMap(rawMap).RawOffset(len(string(runes[:i]))); from != want {
				t.Fatalf("seed %d: raw start %d, want %d", seed, from, want)
			}
			if back, _, ok := naive([]byte("x" + raw[from:to])); i < j && (!ok || string(back) != "x"+cut) {
				t.Fatalf("seed %d: raw bytes [%d, %d) read %q, want %q", seed, from, to, back, cut)
			}
		}
	}
}

func FuzzNewText(f *testing.F) {
	f.Add([]byte("\ufeffa\r\nb\rc"), []byte("a\nb\nc"), []byte{0, 3, 2, 1})
	f.Add([]byte("a\xff"), []byte("a"), []byte(nil))
	f.Add([]byte("\r\r\n"), []byte("\n\n"), []byte{2, 1})
	f.Fuzz(func(t *testing.T, raw, text, rawMap []byte) {
		wantText, wantMap, ok := naive(raw)
		if ok {
			if _, err := NewText(raw, wantText, wantMap); err != nil {
				t.Fatalf("the right answer was refused: %v", err)
			}
		}
		_, err := NewText(raw, text, rawMap)
		right := ok && string(text) == string(wantText) && string(rawMap) == string(wantMap)
		if (err == nil) != right {
			t.Fatalf("right %v, error %v", right, err)
		}
		if !ok && !reason.Is(err, writv1.Reason_REASON_NOT_TEXT) {
			t.Fatalf("got %v, want not_text", err)
		}
	})
}
