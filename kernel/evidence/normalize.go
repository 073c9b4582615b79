package evidence

import (
	"bytes"
	"math"
	"unicode/utf8"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/wasm"
)

// TextV1 is the ID of the normalization rule that this package can check.
const TextV1 = "text.v1"

const bom = "\xef\xbb\xbf"

// CheckText reports whether raw is text by the rules of text.v1: strict UTF-8 without C0 controls
// other than TAB, LF, CR and FF. The error is NOT_TEXT and names the offset of the first offending
// byte in raw, a leading BOM counted.
func CheckText(raw []byte) error {
	for i := 0; i < len(raw); {
		c := raw[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(raw[i:])
			if r == utf8.RuneError && n == 1 {
				return reason.New(writv1.Reason_REASON_NOT_TEXT, "invalid UTF-8 at byte %d", i)
			}
			i += n
			continue
		}
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
			return reason.New(writv1.Reason_REASON_NOT_TEXT, "control character U+%04X at byte %d", c, i)
		}
		i++
	}
	return nil
}

// skip says that from the text's byte at on, raw offsets run ahead by total bytes.
type skip struct{ at, total int }

// correspond checks that text and rawMap are exactly what text.v1 makes of raw. The answer of a
// correct module is a function of raw, so it is recomputed and compared: nothing is left to trust.
func correspond(raw, text, rawMap []byte) ([]skip, error) {
	if len(raw) > math.MaxInt32 {
		return nil, reason.New(writv1.Reason_REASON_TOO_LARGE, "a text has at most %d bytes", math.MaxInt32)
	}
	if err := CheckText(raw); err != nil {
		return nil, err
	}
	var (
		skips     []skip
		want      wasm.RawMap
		at, total int // text bytes matched, raw bytes skipped
		mapped    int // text offset of the last pair
	)
	pair := func(extra int) {
		want = want.AppendPair(at-mapped, extra)
		mapped, total = at, total+extra
		skips = append(skips, skip{at, total})
	}
	rest := raw
	if bytes.HasPrefix(rest, []byte(bom)) {
		pair(len(bom))
		rest = rest[len(bom):]
	}
	for len(rest) > 0 {
		run := bytes.IndexByte(rest, '\r')
		if run < 0 {
			run = len(rest)
		}
		if !bytes.HasPrefix(text[at:], rest[:run]) {
			return nil, differs(text[at:], rest[:run], at)
		}
		at, rest = at+run, rest[run:]
		if len(rest) == 0 {
			break
		}
		if at >= len(text) || text[at] != '\n' {
			return nil, differs(text[at:], []byte{'\n'}, at)
		}
		at++
		if len(rest) > 1 && rest[1] == '\n' {
			pair(1)
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	if at != len(text) {
		return nil, reason.New(writv1.Reason_REASON_PLUGIN_FAILED,
			"normalizer answered %d bytes of text where the source gives %d", len(text), at)
	}
	if !bytes.Equal(rawMap, want) {
		return nil, reason.New(writv1.Reason_REASON_PLUGIN_FAILED,
			"normalizer's raw map differs from the source at byte %d of the map", common(rawMap, want))
	}
	return skips, nil
}

func differs(got, want []byte, at int) error {
	return reason.New(writv1.Reason_REASON_PLUGIN_FAILED,
		"normalizer's text differs from the source at byte %d of the text", at+common(got, want))
}

// common is the length of the longest common prefix.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
