package wasm

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	abi "github.com/writ-kernel/writ/abi/wasm"
)

func TestNormalizeAnswersThatDoNotAddUpAreRefused(t *testing.T) {
	raw := []byte("\xef\xbb\xbfa\r\nb")
	good := abi.NormalizeHeader{BOM: true, Lines: 2, MapBytes: 4, TextBytes: 3}
	body := "a\nb\x00\x03\x02\x01"
	check := func(raw []byte, h abi.NormalizeHeader, body string) error {
		header, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		_, err = checkNormalized(raw, Result{Header: header, Body: []byte(body)})
		return err
	}
	if err := check(raw, good, body); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		raw  string
		h    abi.NormalizeHeader
		body string
	}{
		"text longer than body":   {string(raw), abi.NormalizeHeader{BOM: true, Lines: 2, MapBytes: 0, TextBytes: 8}, body},
		"negative text":           {string(raw), abi.NormalizeHeader{BOM: true, Lines: 2, MapBytes: 8, TextBytes: -1}, body},
		"negative map":            {string(raw), abi.NormalizeHeader{BOM: true, Lines: 2, MapBytes: -1, TextBytes: 8}, body},
		"overflowing sizes":       {string(raw), abi.NormalizeHeader{BOM: true, Lines: 2, MapBytes: -1 << 63, TextBytes: -1 << 63}, body},
		"stray bytes":             {string(raw), good, body + "x"},
		"text not UTF-8":          {string(raw), good, "a\n\xff\x00\x03\x02\x01"},
		"lines":                   {string(raw), abi.NormalizeHeader{BOM: true, Lines: 3, MapBytes: 4, TextBytes: 3}, body},
		"bom":                     {string(raw), abi.NormalizeHeader{BOM: false, Lines: 2, MapBytes: 4, TextBytes: 3}, body},
		"map cut":                 {string(raw), abi.NormalizeHeader{BOM: true, Lines: 2, MapBytes: 3, TextBytes: 3}, "a\nb\x00\x03\x02"},
		"map not shortest":        {string(raw), abi.NormalizeHeader{BOM: true, Lines: 2, MapBytes: 5, TextBytes: 3}, "a\nb\x80\x00\x03\x02\x01"},
		"map accounts too little": {string(raw), abi.NormalizeHeader{BOM: true, Lines: 2, MapBytes: 2, TextBytes: 3}, "a\nb\x00\x03"},
		"map accounts too much":   {string(raw), good, "a\nb\x00\x03\x02\x02"},
		"map beyond the text":     {string(raw), good, "a\nb\x00\x03\x04\x01"},
		"empty pair":              {string(raw), abi.NormalizeHeader{BOM: true, Lines: 2, MapBytes: 6, TextBytes: 3}, "a\nb\x00\x03\x02\x01\x00\x00"},
	} {
		if check([]byte(c.raw), c.h, c.body) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestStructuresThatBreakTheSchemaAreRefused(t *testing.T) {
	heading := func(start, end, level int, ancestry ...int) abi.Segment {
		return abi.Segment{Start: start, End: end, Kind: abi.SegmentHeading, Role: abi.RoleBody, Level: level, Title: "t", Ancestry: ancestry}
	}
	body := func(start, end int, ancestry ...int) abi.Segment {
		return abi.Segment{Start: start, End: end, Kind: abi.SegmentParagraph, Role: abi.RoleBody, Ancestry: ancestry}
	}
	result := func(segments ...abi.Segment) abi.StructureResult { return abi.StructureResult{Segments: segments} }
	for name, good := range map[string]struct {
		r      abi.StructureResult
		points int
	}{
		"empty text": {result(), 0},
		"nested":     {result(heading(0, 1, 1), heading(1, 2, 3, 0), body(2, 4, 0, 1), heading(4, 5, 2, 0), body(5, 6, 0, 3)), 6},
	} {
		if err := checkStructure(good.r, good.points); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	odd := body(0, 1)
	odd.Kind = "poem"
	role := body(0, 1)
	role.Role = "king"
	level := body(0, 1)
	level.Level = 1
	title := body(0, 1)
	title.Title = "t"
	for name, bad := range map[string]abi.StructureResult{
		"gap":                  result(body(0, 1), body(2, 4)),
		"overlap":              result(body(0, 2), body(1, 4)),
		"order":                result(body(2, 4), body(0, 2)),
		"short":                result(body(0, 3)),
		"long":                 result(body(0, 5)),
		"empty segment":        result(body(0, 0), body(0, 4)),
		"negative":             result(body(-1, 4)),
		"none":                 result(),
		"kind":                 result(odd, body(1, 4)),
		"role":                 result(role, body(1, 4)),
		"level of no head":     result(level, body(1, 4)),
		"title of no head":     result(title, body(1, 4)),
		"level 0":              result(heading(0, 4, 0)),
		"level 7":              result(heading(0, 4, 7)),
		"self ancestor":        result(body(0, 4, 0)),
		"later ancestor":       result(body(0, 1, 1), heading(1, 4, 1)),
		"negative ancestor":    result(heading(0, 1, 1), body(1, 4, -1)),
		"ancestor no head":     result(body(0, 1), body(1, 4, 0)),
		"ancestor twice":       result(heading(0, 1, 1), body(1, 4, 0, 0)),
		"ancestor order":       result(heading(0, 1, 1), heading(1, 2, 2, 0), body(2, 4, 1, 0)),
		"ancestor levels":      result(heading(0, 1, 2), heading(1, 2, 2), body(2, 4, 0, 1)),
		"heading under deeper": result(heading(0, 1, 2), heading(1, 4, 2, 0)),
		"diagnostic range":     {Segments: []abi.Segment{body(0, 4)}, Diagnostics: []abi.Diagnostic{{Code: "x", Start: 3, End: 5}}},
		"diagnostic code":      {Segments: []abi.Segment{body(0, 4)}, Diagnostics: []abi.Diagnostic{{Code: "X y", Start: 3, End: 4}}},
	} {
		if checkStructure(bad, 4) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestEveryClaimAndCitationIsPlacedOnceOnALineThatExists(t *testing.T) {
	d := abi.Dossier{Slots: []abi.DossierSlot{
		{Slot: 1, Claims: []abi.DossierClaim{{Citations: make([]abi.Citation, 2)}}},
		{Slot: 2, Claims: []abi.DossierClaim{{}}},
	}}
	claims := []abi.ClaimPlace{{Slot: 1, Claim: 0, FromLine: 1, ToLine: 2}, {Slot: 2, Claim: 0, FromLine: 9, ToLine: 9}}
	citations := []abi.CitationPlace{{Slot: 1, Citation: 0, FromLine: 3, ToLine: 3}, {Slot: 1, Citation: 1, FromLine: 4, ToLine: 5}}
	if err := checkPlacement(d, abi.Placement{Claims: claims, Citations: citations}, 9); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]abi.Placement{
		"claim missing":    {Claims: claims[:1], Citations: citations},
		"citation missing": {Claims: claims, Citations: citations[:1]},
		"claim twice":      {Claims: append(claims[:2:2], claims[0]), Citations: citations},
		"citation twice":   {Claims: claims, Citations: append(citations[:2:2], citations[1])},
		"unknown slot":     {Claims: append(claims[:2:2], abi.ClaimPlace{Slot: 3, FromLine: 1, ToLine: 1}), Citations: citations},
		"claim as citation": {Claims: claims[1:], Citations: append(citations[:2:2],
			abi.CitationPlace{Slot: 1, Claim: 0, Citation: wholeClaim, FromLine: 1, ToLine: 1})},
		"line 0":      {Claims: []abi.ClaimPlace{claims[0], {Slot: 2, FromLine: 0, ToLine: 1}}, Citations: citations},
		"backwards":   {Claims: []abi.ClaimPlace{claims[0], {Slot: 2, FromLine: 5, ToLine: 4}}, Citations: citations},
		"beyond text": {Claims: []abi.ClaimPlace{claims[0], {Slot: 2, FromLine: 9, ToLine: 10}}, Citations: citations},
	} {
		if checkPlacement(d, p, 9) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestAssembledTextHoldsNoControls(t *testing.T) {
	for body, ok := range map[string]bool{"a\tb\n{\"claims\":[],\"citations\":[]}": true, "a\x1b[\n{\"claims\":[],\"citations\":[]}": false,
		"a\r\n\n{\"claims\":[],\"citations\":[]}": false, "a\xff\n\n{\"claims\":[],\"citations\":[]}": false, "a b\n{\"claims\":[],\"x\":[]}": false} {
		text := int64(strings.IndexByte(body, '{'))
		header, err := json.Marshal(abi.AssembleHeader{TextBytes: text, PlacementBytes: int64(len(body)) - text})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := checkAssembled(abi.Dossier{}, Result{Header: header, Body: []byte(body)}); (err == nil) != ok {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestRequestHeaderIsCanonicalAndGreased(t *testing.T) {
	a, err := requestHeader("reader", Request{Op: "structure", MediaType: "text/plain", Body: []byte("a")}, Limits{}.withDefaults(1))
	if err != nil {
		t.Fatal(err)
	}
	b, err := requestHeader("reader", Request{Op: "structure", MediaType: "text/plain", Body: []byte("b")}, Limits{}.withDefaults(1))
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(a, &members); err != nil || len(members) != 6 {
		t.Errorf("header %s, %v", a, err)
	}
	if bytes.Equal(a, b) {
		t.Error("the unknown field does not change with the body")
	}
	want := `"limits":{"log_bytes":4096,"memory_bytes":67108864,"output_bytes":65540,"wall_ms":1000}`
	if !strings.Contains(string(a), want) {
		t.Errorf("header %s", a)
	}
}

func TestLimitsAreNarrowedNeverWidened(t *testing.T) {
	l := Limits{Wall: time.Hour, MemoryBytes: 1 << 40, OutputBytes: 1 << 40, LogBytes: 1 << 40}.withDefaults(0)
	if l != (Limits{Wall: maxWall, MemoryBytes: MaxMemory, OutputBytes: MaxOutput, LogBytes: MaxLog}) {
		t.Error(l)
	}
}

func TestFramesThatLieAreRefusedBeforeTheyCostMemory(t *testing.T) {
	frame := func(size uint32, rest string) *bytes.Reader {
		return bytes.NewReader(append(binary.LittleEndian.AppendUint32(nil, size), rest...))
	}
	if _, _, err := readFrame(frame(1<<32-1, "A"), 100); !errors.Is(err, errFrame) {
		t.Error(err)
	}
	if _, _, err := readFrame(frame(5, "Aab"), 100); err == nil {
		t.Error("a cut frame was read")
	}
	kind, payload, err := readFrame(frame(2, "Aab"), 100)
	if err != nil || kind != 'A' || string(payload) != "ab" {
		t.Error(kind, payload, err)
	}
	for _, payload := range []string{"", "abc", "\xff\xff\xff\xff{}", "\x02\x00\x00\x00[]", "\x03\x00\x00\x00{}"} {
		var meta answerMeta
		if _, err := splitPayload([]byte(payload), &meta); !errors.Is(err, errFrame) {
			t.Errorf("%q: %v", payload, err)
		}
	}
}

func FuzzPayloads(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00{}rest"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var meta answerMeta
		rest, err := splitPayload(b, &meta)
		if err == nil && len(rest) > len(b)-4 {
			t.Fatal("more came out than went in")
		}
	})
}
