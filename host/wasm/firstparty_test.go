package wasm

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	abi "github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/registry/registrytest"
)

// The modules of this build, as the registry vouches for them and a worker process runs them. Their
// rules are tested natively beside their code; here it is shown that they hold in the sandbox.

// unhurried keeps a loaded machine from failing what is not about time.
var unhurried = Limits{Wall: 30 * time.Second}

func outline(s StructureResult) string {
	var all []string
	for _, segment := range s.Segments {
		if segment.Kind == abi.SegmentHeading && segment.Role == abi.RoleBody {
			all = append(all, strings.TrimSpace(strconv.Itoa(segment.Level)+" "+segment.Title))
		}
	}
	return strings.Join(all, " | ")
}

func TestTheBuiltMarkdownReaderFollowsCommonMark(t *testing.T) {
	p, m := newPool(t, Config{Workers: 1}), registrytest.Load(t, abi.KindReader, "markdown")
	staircase := ""
	for i := range 1000 {
		staircase += strings.Repeat("  ", i) + "- a\n"
	}
	for name, c := range map[string]struct{ text, outline, diagnostic string }{
		"empty":             {"", "", ""},
		"tilde fence":       {"# A\n~~~py\n# no\n~~~\n# B\n", "1 A | 1 B", ""},
		"longer fence":      {"# A\n````\n```\n# no\n````\n# yes\n", "1 A | 1 yes", ""},
		"unclosed fence":    {"# A\n```\n# no\n", "1 A", ""},
		"fence in a quote":  {"# A\n> ```\n> # no\n\n# B\n", "1 A | 1 B", ""},
		"two rules":         {"---\n\n# A\n\ntext\n\n---\n\n# B\n", "1 A | 1 B", ""},
		"front matter":      {"---\nname: x\ndesc: y\n---\n# H\n", "1 H", ""},
		"comment":           {"# A\n<!--\n## B\n-->\n## C\n", "1 A | 2 C", ""},
		"unclosed comment":  {"# A\n<!-- \n## B\n", "1 A", "unclosed_comment"},
		"quotes too deep":   {strings.Repeat("> ", 300) + "x\n", "", "nesting_limit"},
		"lists too deep":    {staircase, "", "nesting_limit"},
		"YAML too deep":     {"---\na: " + strings.Repeat("[", 9000) + "\n---\n", "2 a: " + strings.Repeat("[", 9000), "front_matter_rejected"},
		"brackets":          {strings.Repeat("[", 20_000), "", ""},
		"tildes":            {strings.Repeat("~", 100_000), "", ""},
		"wide characters":   {"# é\u2028\U0001F600\n", "1 é\u2028\U0001F600", ""},
		"too many segments": {strings.Repeat("# a\n", 4000), "", "segment_limit"},
	} {
		// Structure itself proves that the segments cover the text and keep the ABI's rules.
		s, err := Structure(t.Context(), p, m, abi.MediaText, []byte(c.text), unhurried)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := outline(s); got != c.outline {
			t.Errorf("%s: outline %.200q, want %.200q", name, got, c.outline)
		}
		if got := slices.ContainsFunc(s.Diagnostics, func(d abi.Diagnostic) bool { return d.Code == c.diagnostic }); got != (c.diagnostic != "") {
			t.Errorf("%s: diagnostics %v", name, s.Diagnostics)
		}
	}
	_, err := Structure(t.Context(), p, m, abi.MediaText, []byte("é\xff"), unhurried)
	if g, ok := errors.AsType[*GuestError](err); !ok || g.Code != abi.CodeInvalidUTF8 || g.Offset != 2 {
		t.Errorf("invalid UTF-8: %v", err)
	}
}

func TestTheBuiltTextReaderCutsParagraphs(t *testing.T) {
	p, m := newPool(t, Config{Workers: 1}), registrytest.Load(t, abi.KindReader, "text")
	s, err := Structure(t.Context(), p, m, abi.MediaText, []byte("# é\nb\n\nc\n"), unhurried)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, segment := range s.Segments {
		got = append(got, segment.Kind)
	}
	if want := []string{abi.SegmentParagraph, abi.SegmentBlank, abi.SegmentParagraph}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestTheBuiltAssemblerWordsADossier(t *testing.T) {
	p, m := newPool(t, Config{Workers: 1}), registrytest.Load(t, abi.KindAssembler, "dossier.v1")
	hash := strings.Repeat("ab", 32)
	cite := abi.Citation{Source: "s", Name: "README.md", RawSHA256: hash, TextSHA256: hash, Normalizer: "text.v1",
		End: 4, RawEnd: 4, FromLine: 1, ToLine: 1, Quote: "wo\trd", SpanSHA256: hash, Status: "verified"}
	d := abi.Dossier{
		Schema: abi.DossierSchema, OperationID: "op", Question: "why\nSOURCES\n=======", CreatedAt: "2026-01-02T03:04:05Z",
		Slots: []abi.DossierSlot{
			{Slot: 1, State: "complete", Claims: []abi.DossierClaim{{Text: "a \u202eclaim", Adopted: true, Citations: []abi.Citation{cite}}}},
			{Slot: 2, State: "blocked", Reason: "cost_unknown"},
		},
	}
	a, err := Assemble(t.Context(), p, m, d, unhurried)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(a.Text), "\n")
	claim, quote := a.Placement.Claims[0], a.Placement.Citations[0]
	if lines[claim.FromLine-1] != "  Claim 1.1" || lines[claim.FromLine] != `    > a \u{202E}claim` || lines[quote.ToLine-1] != "    | wo\trd" {
		t.Errorf("claim %+v and quote %+v in\n%s", claim, quote, a.Text)
	}
	if !strings.HasPrefix(lines[2], "THIS DOSSIER IS INCOMPLETE.") || !slices.Contains(lines, "No language model was used. A verified quote proves that its source holds those words, and nothing") ||
		bytes.Count(a.Text, []byte("\nSOURCES\n")) != 1 {
		t.Errorf("got\n%s", a.Text)
	}
	again, err := Assemble(t.Context(), p, m, d, unhurried)
	if err != nil || !bytes.Equal(a.Text, again.Text) {
		t.Errorf("a second run differs, %v", err)
	}

	d.Complete = true
	_, err = Assemble(t.Context(), p, m, d, unhurried)
	if g, ok := errors.AsType[*GuestError](err); !ok || g.Code != abi.CodeBadInput {
		t.Errorf("a complete dossier with a blocked child: %v", err)
	}
	d.Complete, d.Question = false, strings.Repeat("word ", 20_000)
	_, err = Assemble(t.Context(), p, m, d, unhurried)
	if g, ok := errors.AsType[*GuestError](err); !ok || g.Code != abi.CodeOutputLimit {
		t.Errorf("a dossier over 64 KiB: %v", err)
	}
}

// BenchmarkStructure64K is one fresh instance of the Markdown reader over ordinary prose.
func BenchmarkStructure64K(b *testing.B) {
	p, m := newPool(b, Config{Workers: 1}), registrytest.Load(b, abi.KindReader, "markdown")
	text := bytes.Repeat([]byte("## Heading\n\nSome words of text that go on for a while and then\nwrap over to the next line.\n\n- one item\n- and one more\n\n"), 64<<10/120)
	if _, err := Structure(b.Context(), p, m, abi.MediaText, text, unhurried); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Structure(b.Context(), p, m, abi.MediaText, text, unhurried); err != nil {
			b.Fatal(err)
		}
	}
}
