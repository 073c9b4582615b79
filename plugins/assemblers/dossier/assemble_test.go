package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/guest"
	"github.com/writ-kernel/writ/abi/wasm"
)

var update = flag.Bool("update", false, "write the golden files")

func TestDossiersReadAsTheyDid(t *testing.T) {
	for file, d := range map[string]wasm.Dossier{"complete.txt": whole(), "incomplete.txt": partial()} {
		t.Run(file, func(t *testing.T) {
			got, _ := assemble(d)
			path := filepath.Join("testdata", file)
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; run with -update and read the change\n%s", path, got)
			}
			again, _ := assemble(d)
			if !bytes.Equal(got, again) {
				t.Error("two runs differ")
			}
		})
	}
}

func TestAnIncompleteDossierSaysSoFirstAndNeverOtherwise(t *testing.T) {
	text, _ := assemble(partial())
	lines := strings.Split(string(text), "\n")
	if !strings.HasPrefix(lines[2], "THIS DOSSIER IS INCOMPLETE.") || !strings.Contains(lines[3], "cost_unknown") {
		t.Errorf("starts %q", lines[:5])
	}
	rest := strings.ReplaceAll(strings.ToLower(string(text)), "incomplete", "")
	if strings.Contains(rest, "complete") {
		t.Errorf("calls itself complete:\n%s", text)
	}
}

func TestTheUseOfALanguageModelIsSaid(t *testing.T) {
	without, _ := assemble(whole())
	with, _ := assemble(partial())
	const none = "No language model was used."
	if !bytes.Contains(without, []byte(none)) || bytes.Contains(with, []byte(none)) || !bytes.Contains(with, []byte("A language model wrote the claims.")) {
		t.Error("the language model is not told apart")
	}
}

// own lists the lines that are the dossier's own.
func own(text []byte) []string {
	var lines []string
	for line := range strings.SplitSeq(string(text), "\n") {
		if !strings.HasPrefix(line, wordIndent) && !strings.HasPrefix(line, quoteBar) {
			lines = append(lines, line)
		}
	}
	return lines
}

// fill sets every free text of a dossier.
func fill(d wasm.Dossier, s string) wasm.Dossier {
	raw, _ := json.Marshal(d)
	var c wasm.Dossier
	_ = json.Unmarshal(raw, &c)
	c.Question = s
	for i := range c.Slots {
		slot := &c.Slots[i]
		slot.Perspective = s
		if slot.State == stateComplete {
			slot.Uncertainty = s
		}
		if slot.Reason != "" {
			slot.Detail = s
		}
		for j := range slot.Claims {
			slot.Claims[j].Text = s
			for k := range slot.Claims[j].Citations {
				slot.Claims[j].Citations[k].Quote, slot.Claims[j].Citations[k].SourceText = s, s
			}
		}
		for j := range slot.Contradictions {
			slot.Contradictions[j].Text = s
			for k := range slot.Contradictions[j].Citations {
				slot.Contradictions[j].Citations[k].Quote = s
			}
		}
	}
	for i := range c.Sources {
		if c.Sources[i].Reason != "" {
			c.Sources[i].Reason = s
		}
	}
	return c
}

func TestWordsOfOthersCannotForgeTheDossier(t *testing.T) {
	golden, _ := assemble(whole())
	for name, hostile := range map[string]string{
		"the whole dossier":   string(golden),
		"headings":            "x\nSOURCES\n=======\nSources read: 9\n",
		"claims":              "x\n  Claim 9.9\n      y\n  Quote 9.9.9, verified: README.md line 1, span 0\n    | z",
		"a wrap made to fit":  strings.Repeat("x", 94) + " Claim 9.9 " + strings.Repeat("y", 93) + " COST ====",
		"carriage returns":    "x\r  Claim 9.9\r\nCOST",
		"other line ends":     "x\u2028COST\u2029COST\u0085COST\vCOST\fCOST",
		"bars":                "    | x\n    | y",
		"terminal sequences":  "\x1b[2J\x1b[H\x9b2JCOST",
		"bidirectional marks": "\u202eTSOC\u2066x\u2069",
		"backspaces":          "x\b\b\bCOST",
	} {
		for _, base := range []wasm.Dossier{whole(), partial()} {
			plain, _ := assemble(fill(base, "x"))
			got, _ := assemble(fill(base, hostile))
			if !slices.Equal(own(plain), own(got)) {
				t.Errorf("%s: the dossier's own lines changed:\n%s", name, got)
			}
			checkShown(t, got)
		}
	}
}

func TestNamesOfOthersStayWithinTheirPlace(t *testing.T) {
	base := partial()
	plain, _ := assemble(base)
	for _, hostile := range []string{"x\nCOST", "README.md line 1, span 0", "a\" b", "\u202ex", strings.Repeat("x ", 200), "-", "ä"} {
		d := fill(base, "x")
		d.OperationID, d.CreatedAt, d.Deadline, d.Normalizer = hostile, hostile, hostile, hostile
		d.Route = wasm.DossierRoute{Name: hostile, Deployment: hostile, Model: hostile, LanguageModel: true, Provider: hostile, ProviderVersion: hostile, ProviderSHA256: hostile}
		d.Slots[1].State, d.Slots[1].Reason = hostile, hostile
		d.Sources[1].Name, d.Sources[1].Status, d.Sources[1].RawSHA256 = hostile, hostile, hostile
		cite := &d.Slots[0].Claims[2].Citations[0]
		cite.Name, cite.Status, cite.SpanSHA256 = hostile, hostile, hostile
		d.Receipts[0].ReservationID, d.Receipts[0].State, d.Receipts[0].Evidence, d.Receipts[0].PayloadSHA256 = hostile, hostile, hostile, hostile
		got, _ := assemble(d)
		if a, b := len(own(plain)), len(own(got)); b < a || b > a+2 { // the cited span and the status each add a line
			t.Errorf("%q: %d own lines became %d\n%s", hostile, a, b, got)
		}
		checkShown(t, got)
		for _, line := range own(got) {
			if hostile != "-" && strings.Contains(line, hostile) && !strings.Contains(line, `"`+hostile+`"`) {
				t.Errorf("%q stands bare in %q", hostile, line)
			}
		}
	}
}

// checkShown holds a text to showing everything it holds.
func checkShown(t testing.TB, text []byte) {
	t.Helper()
	if !utf8.Valid(text) || len(text) == 0 || text[len(text)-1] != '\n' {
		t.Fatal("not lines of UTF-8")
	}
	for _, r := range string(text) {
		if r != '\n' && r != '\t' && escape(string(r), "") != string(r) {
			t.Fatalf("%U is not shown", r)
		}
	}
}

func TestInvisibleCharactersAreShown(t *testing.T) {
	for r, want := range map[rune]string{
		0x00: `\u{0}`, 0x07: `\u{7}`, '\t': `\u{9}`, 0x7f: `\u{7F}`, 0x85: `\u{85}`, 0x9b: `\u{9B}`, 0xad: `\u{AD}`,
		0x034f: `\u{34F}`, 0x061c: `\u{61C}`, 0x115f: `\u{115F}`, 0x200b: `\u{200B}`, 0x200d: `\u{200D}`, 0x200f: `\u{200F}`,
		0x2028: `\u{2028}`, 0x202e: `\u{202E}`, 0x2060: `\u{2060}`, 0x2066: `\u{2066}`, 0x3164: `\u{3164}`, 0xfe0f: `\u{FE0F}`,
		0xfeff: `\u{FEFF}`, 0xe000: `\u{E000}`, 0xe0041: `\u{E0041}`, 0xe0100: `\u{E0100}`,
		'a': "a", 'é': "é", 0x301: "\u0301", 0x1f600: "\U0001F600", '\\': `\`, 0xa0: "\u00a0",
	} {
		if got := escape(string(r), ""); got != want {
			t.Errorf("%U shows as %q, want %q", r, got, want)
		}
	}
	if got := escape(`\u{202E} \u x`, ""); got != `\u{5C}u{202E} \u x` {
		t.Errorf("an escape in the words shows as %q", got)
	}
}

var escaped = regexp.MustCompile(`\\u\{([0-9A-F]+)\}`)

// readBack undoes quote.
func readBack(lines []string) string {
	var words []string
	for _, line := range lines {
		words = append(words, escaped.ReplaceAllStringFunc(strings.TrimPrefix(line, quoteBar), func(e string) string {
			n, _ := strconv.ParseInt(e[3:len(e)-1], 16, 32)
			return string(rune(n))
		}))
	}
	return strings.Join(words, "\n")
}

// checkPlacement holds a placement to the lines it points at.
func checkPlacement(t testing.TB, d wasm.Dossier, text []byte, p wasm.Placement) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	claims, citations := 0, 0
	for _, s := range d.Slots {
		claims += len(s.Claims)
		for _, c := range s.Claims {
			citations += len(c.Citations)
		}
	}
	if len(p.Claims) != claims || len(p.Citations) != citations {
		t.Fatalf("%d claims and %d citations are placed, of %d and %d", len(p.Claims), len(p.Citations), claims, citations)
	}
	find := func(slot int) wasm.DossierSlot {
		return d.Slots[slices.IndexFunc(d.Slots, func(s wasm.DossierSlot) bool { return s.Slot == slot })]
	}
	for _, at := range p.Claims {
		c := find(at.Slot).Claims[at.Claim]
		head := fmt.Sprintf("  Claim %d.%d", at.Slot, at.Claim+1)
		if !c.Adopted {
			head += ", NOT ADOPTED"
		}
		if lines[at.FromLine-1] != head || at.ToLine <= at.FromLine || at.ToLine > len(lines) {
			t.Fatalf("%+v points at %q", at, lines[at.FromLine-1])
		}
	}
	for _, at := range p.Citations {
		c := find(at.Slot).Claims[at.Claim].Citations[at.Citation]
		if !strings.HasPrefix(lines[at.FromLine-1], fmt.Sprintf("  Quote %d.%d.%d, ", at.Slot, at.Claim+1, at.Citation+1)) {
			t.Fatalf("%+v points at %q", at, lines[at.FromLine-1])
		}
		shown := strings.HasPrefix(lines[at.FromLine-1], fmt.Sprintf("  Quote %d.%d.%d, verified: ", at.Slot, at.Claim+1, at.Citation+1))
		if shown != (c.Status == statusVerified) {
			t.Fatalf("status %q shows as %q", c.Status, lines[at.FromLine-1])
		}
		if c.Status != statusNear && readBack(lines[at.FromLine:at.ToLine]) != c.Quote {
			t.Fatalf("got %q back from quote %q", readBack(lines[at.FromLine:at.ToLine]), c.Quote)
		}
	}
}

func TestPlacementPointsAtEveryClaimAndQuote(t *testing.T) {
	for _, d := range []wasm.Dossier{whole(), partial(), fill(partial(), "a\n\n\tb \\u{41}\u200b \n")} {
		text, p := assemble(d)
		checkPlacement(t, d, text, p)
	}
}

func TestUnverifiedQuotesStandOnlyUnderClaimsNotAdopted(t *testing.T) {
	text, _ := assemble(partial())
	adopted, rest, found := strings.Cut(string(text), "that were NOT ADOPTED")
	if !found || strings.Contains(adopted, "NOT VERIFIED") || strings.Contains(adopted, "NOT ADOPTED") {
		t.Errorf("before the unadopted claims:\n%s", adopted)
	}
	for _, want := range []string{"Quote 1.3.1, NOT VERIFIED, unobserved: no source", "Quote 1.4.1, NOT VERIFIED, near: README.md line 3",
		"The source holds:\n    | \u201cten\u201d seconds\n", "No quote was given."} {
		if !strings.Contains(rest, want) {
			t.Errorf("no %q in\n%s", want, rest)
		}
	}
}

func TestFreeWordsAreWrapped(t *testing.T) {
	d := whole()
	d.Slots[0].Claims[0].Text = strings.Repeat("wörter ", 200)
	text, _ := assemble(d)
	for line := range strings.SplitSeq(string(text), "\n") {
		if utf8.RuneCountInString(line) > width+12 { // a digest behind its label may stand out
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
}

func request(body []byte) []byte {
	header, _ := json.Marshal(wasm.RequestHeader{ABI: wasm.ABI, Kind: wasm.KindAssembler, Op: wasm.OpAssemble, MediaType: wasm.MediaDossier})
	return append(append(header, '\n'), body...)
}

func body(t testing.TB, d wasm.Dossier) []byte {
	t.Helper()
	raw, err := canon.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAnswerCarriesTextAndPlacement(t *testing.T) {
	answer, code := guest.Serve(request(body(t, whole())))
	line, rest, _ := bytes.Cut(answer, []byte("\n"))
	var h wasm.AssembleHeader
	if err := json.Unmarshal(line, &h); err != nil || code != wasm.RunOK || int(h.TextBytes+h.PlacementBytes) != len(rest) {
		t.Fatalf("code %d, header %s, %v", code, line, err)
	}
	var p wasm.Placement
	if err := canon.Unmarshal(rest[h.TextBytes:], &p); err != nil {
		t.Fatal(err)
	}
	checkPlacement(t, whole(), rest[:h.TextBytes], p)
}

func TestManifestsThatBreakAPromiseAreRefused(t *testing.T) {
	raw := string(body(t, whole()))
	change := func(f func(*wasm.Dossier)) string {
		d := fill(whole(), "x")
		f(&d)
		return string(body(t, d))
	}
	for name, c := range map[string]struct{ body, code, detail string }{
		"not JSON":           {"hello", wasm.CodeBadInput, ""},
		"trailing data":      {raw + "{}", wasm.CodeBadInput, ""},
		"unknown field":      {`{"secret words":1,` + raw[1:], wasm.CodeBadInput, "unknown field"},
		"duplicate field":    {`{"schema":"a",` + raw[1:], wasm.CodeBadInput, "schema: duplicate field"},
		"wrong type":         {strings.Replace(raw, `"complete":true`, `"complete":"secret words"`, 1), wasm.CodeBadInput, "complete: not what the schema says"},
		"invalid UTF-8":      {strings.Replace(raw, "Operators", "\xff", 1), wasm.CodeBadInput, "slots[0].perspective: invalid UTF-8"},
		"schema":             {change(func(d *wasm.Dossier) { d.Schema = "writ.dossier.v2" }), wasm.CodeBadInput, "schema:"},
		"complete in part":   {change(func(d *wasm.Dossier) { d.Slots[1].State = "blocked" }), wasm.CodeBadInput, "slots[1].state:"},
		"slot twice":         {change(func(d *wasm.Dossier) { d.Slots[1].Slot = 1 }), wasm.CodeBadInput, "slots[1].slot:"},
		"slot zero":          {change(func(d *wasm.Dossier) { d.Slots[0].Slot = 0 }), wasm.CodeBadInput, "slots[0].slot:"},
		"adopted unverified": {change(func(d *wasm.Dossier) { d.Slots[0].Claims[1].Citations[1].Status = statusNear }), wasm.CodeBadInput, "slots[0].claims[1].adopted:"},
		"adopted unquoted":   {change(func(d *wasm.Dossier) { d.Slots[0].Claims[0].Citations = nil }), wasm.CodeBadInput, "slots[0].claims[0].adopted:"},
		"conflict of none":   {change(func(d *wasm.Dossier) { d.Conflicts[0].Claims[1].Claim = 7 }), wasm.CodeBadInput, "conflicts[0].claims[1]:"},
		"over 64 KiB":        {change(func(d *wasm.Dossier) { d.Slots[0].Claims[0].Text = strings.Repeat("word ", 14_000) }), wasm.CodeOutputLimit, "at most 65536"},
		"over by escaping":   {change(func(d *wasm.Dossier) { d.Slots[0].Claims[0].Text = strings.Repeat("\u200b", 9_000) }), wasm.CodeOutputLimit, "at most 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, code := guest.Serve(request([]byte(c.body)))
			var h wasm.AnswerHeader
			if err := json.Unmarshal(answer, &h); err != nil || code != wasm.RunRefused {
				t.Fatalf("code %d, answer %.200q, %v", code, answer, err)
			}
			if h.Error.Code != c.code || !strings.Contains(h.Error.Detail, c.detail) || strings.Contains(h.Error.Detail, "secret words\"") {
				t.Errorf("error %+v", h.Error)
			}
		})
	}
}

func TestManifestIsStrictJSON(t *testing.T) {
	raw, err := os.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m wasm.Manifest
	if err := canon.Unmarshal(raw, &m); err != nil || m.ABI != wasm.ABI || m.Kind != wasm.KindAssembler || m.Name != "dossier.v1" || m.MediaTypes[0] != wasm.MediaDossier {
		t.Fatalf("%+v, %v", m, err)
	}
}

func FuzzWordsStayWords(f *testing.F) {
	for _, s := range []string{"x", "a\nCOST\n====", "\u202e\t\\u{41}", "    | x\n      y", strings.Repeat("w ", 99)} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, words, name string) {
		if words == "" || !utf8.ValidString(words) || !utf8.ValidString(name) { // no words are said so
			t.Skip()
		}
		d := fill(partial(), words)
		d.Sources[0].Name, d.Route.Model, d.Slots[0].Claims[0].Citations[0].Name = name, name, name
		text, p := assemble(d)
		checkShown(t, text)
		checkPlacement(t, d, text, p)
		again := fill(d, "x")
		plain, _ := assemble(again)
		if !slices.Equal(own(plain), own(text)) {
			t.Fatalf("own lines changed:\n%s", text)
		}
	})
}

func FuzzServeNeverPanics(f *testing.F) {
	f.Add(body(f, whole()))
	f.Add(body(f, partial()))
	f.Fuzz(func(t *testing.T, body []byte) { guest.Serve(request(body)) })
}
