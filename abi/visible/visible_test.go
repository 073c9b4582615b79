package visible

import (
	"strings"
	"testing"
)

func TestEveryKnownHidingCharacterHasAKind(t *testing.T) {
	for kind, all := range map[string]string{
		Bidi:      "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
		ZeroWidth: "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff",
		Tag:       "\U000e0001\U000e0020\U000e0041\U000e007f",
		Variation: "\ufe00\ufe0f\U000e0100\U000e01ef\u180b",
		Ignorable: "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u206a\u206f\u3164\uffa0\ufff0\ufff9\ufffb\U0001bca0\U0001d173",
		Control:   "\x7f\u0080\u0085\u009b\u009f\u2028\u2029",
	} {
		for _, r := range all {
			if got := Kind(r); got != kind {
				t.Errorf("U+%04X is %q, want %q", r, got, kind)
			}
		}
	}
	for _, r := range "aé\u0600\u0301\u00a0\u2009…“ﬁ\ufffd\U0001f600\ue000" {
		if got := Kind(r); got != "" {
			t.Errorf("U+%04X is %q", r, got)
		}
	}
}

func TestTextShowsWhatATerminalWouldObeyOrHide(t *testing.T) {
	for s, want := range map[string]string{
		"plain é\n\ttext":          "plain é\n\ttext",
		"a\u202eb":                 `a\u{202E}b`,
		"\x1b[31mred\x07\x00":      `\u{001B}[31mred\u{0007}\u{0000}`,
		"a\rb\f\v\x7f\u009b\u0085": `a\u{000D}b\u{000C}\u{000B}\u{007F}\u{009B}\u{0085}`,
		"\U000e0041\ufeff\u2028":   `\u{E0041}\u{FEFF}\u{2028}`,
		"bad \xff\xed\xa0":         `bad \x{FF}\x{ED}\x{A0}`,
		`faked \u{202E} \x{FF}`:    `faked \u{005C}u{202E} \u{005C}x{FF}`,
		`C:\users\x`:               `C:\users\x`,
		`\`:                        `\`,
		"\ufffd":                   "\ufffd",
	} {
		if got := Text(s); got != want {
			t.Errorf("%q is shown as %s, want %s", s, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\u202e\\{202E}\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if hidden := func(r rune) bool { return r < 0x20 && r != '\t' && r != '\n' || Kind(r) != "" }; strings.ContainsFunc(got, hidden) {
			t.Fatalf("%q shows %q", s, got)
		}
	})
}

func TestWhatTextMadeIsSafeAndWhatItEscapedIsNot(t *testing.T) {
	for _, s := range []string{"plain\n\tand é", "a\u202eb", "a\x1bb", "a\u200bb", "bad \xff", "\\u{202E}", "\ufffd"} {
		changed := Text(s) != s && s != "\\u{202E}"
		if Safe(s) == changed || !Safe(Text(s)) {
			t.Errorf("%q: safe %v", s, Safe(s))
		}
	}
}
