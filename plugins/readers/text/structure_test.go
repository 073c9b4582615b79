package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/writ-kernel/writ/abi/guest"
	"github.com/writ-kernel/writ/abi/wasm"
)

func TestBlankLinesPartParagraphs(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // kind, then the segment's text
	}{
		"empty":               {"", nil},
		"one line without LF": {"a", []string{"paragraph", "a"}},
		"two paragraphs":      {"a\nb\n\nc\n", []string{"paragraph", "a\nb\n", "blank", "\n", "paragraph", "c\n"}},
		"blank at both ends":  {"\n\na\n\n", []string{"blank", "\n\n", "paragraph", "a\n", "blank", "\n"}},
		"spaces and tabs":     {"a\n \t\nb", []string{"paragraph", "a\n", "blank", " \t\n", "paragraph", "b"}},
		"form feed":           {"a\n\f\nb", []string{"paragraph", "a\n", "blank", "\f\n", "paragraph", "b"}},
		"U+2028 is a word":    {"a\u2028\u2028b\n", []string{"paragraph", "a\u2028\u2028b\n"}},
		"U+00A0 is a word":    {"a\n\u00a0\nb", []string{"paragraph", "a\n\u00a0\nb"}},
		"heading look-alikes": {"# a\n---\n> b\n", []string{"paragraph", "# a\n---\n> b\n"}},
		"wide characters":     {"\U0001F600é\n\né", []string{"paragraph", "\U0001F600é\n", "blank", "\n", "paragraph", "é"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			points := []rune(c.text)
			for _, s := range structure([]byte(c.text)).Segments {
				got = append(got, s.Kind, string(points[s.Start:s.End]))
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func request(limit int64, body string) []byte {
	header, _ := json.Marshal(wasm.RequestHeader{ABI: wasm.ABI, Kind: wasm.KindReader, Op: wasm.OpStructure,
		MediaType: wasm.MediaText, Limits: wasm.Limits{OutputBytes: limit}})
	return append(append(header, '\n'), body...)
}

func answer(t *testing.T, frame []byte) (code int32, result wasm.StructureResult, size int) {
	t.Helper()
	out, code := guest.Serve(frame)
	_, body, _ := strings.Cut(string(out), "\n")
	if code == wasm.RunOK {
		if err := json.Unmarshal([]byte(body), &result); err != nil {
			t.Fatal(err)
		}
	}
	return code, result, len(out)
}

func TestAnswerStaysUnderTheOutputLimit(t *testing.T) {
	text := strings.Repeat("a\n\n", 10_000)
	limit := int64(4*len(text) + 64<<10)
	code, result, size := answer(t, request(limit, text))
	if code != wasm.RunOK || int64(size) > limit {
		t.Fatalf("code %d, %d bytes over %d", code, size, limit)
	}
	if len(result.Segments) != 1 || result.Segments[0].End != len(text) || result.Diagnostics[0].Code != "segment_limit" {
		t.Fatalf("%d segments, diagnostics %v", len(result.Segments), result.Diagnostics)
	}
}

func TestInvalidUTF8IsRefusedAtItsOffset(t *testing.T) {
	out, code := guest.Serve(request(0, "é\xff\xfe"))
	if code != wasm.RunRefused || !strings.Contains(string(out), `"code":"invalid_utf8","offset":2`) {
		t.Fatalf("code %d, answer %s", code, out)
	}
}

func TestManifestIsStrictJSON(t *testing.T) {
	raw, err := os.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m wasm.Manifest
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil || m.ABI != wasm.ABI || m.Kind != wasm.KindReader || m.Name != "text" || m.Version != "1.0.0" {
		t.Fatalf("%+v, %v", m, err)
	}
}

func FuzzSegmentsGiveTheTextBack(f *testing.F) {
	for _, s := range []string{"", "\n", "a\n\n\fb", "é\u2028\n \nx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if invalid([]byte(text)) >= 0 {
			t.Skip()
		}
		var got strings.Builder
		points, at := []rune(text), 0
		for _, s := range structure([]byte(text)).Segments {
			if s.Start != at || s.End <= s.Start {
				t.Fatalf("segment %+v after %d", s, at)
			}
			at = s.End
			got.WriteString(string(points[s.Start:s.End]))
		}
		if got.String() != text {
			t.Fatalf("got %q back from %q", got.String(), text)
		}
	})
}
