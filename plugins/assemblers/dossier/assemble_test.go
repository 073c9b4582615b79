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

	"github.com/writ-kernel/writ/abi/visible"
	"github.com/writ-kernel/writ/abi/wasm"
)

var update = flag.Bool("update", false, "write the golden files")

func TestDossiersReadAsTheyDid(t *testing.T) {
	for file, d := range map[string]wasm.Dossier{"complete.txt": whole(), "incomplete.txt": partial(), "hostile.txt": hostile()} {
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
	if !strings.HasPrefix(lines[2], "THIS DOSSIER IS INCOMPLETE.") || !strings.Contains(lines[4], "cost_unknown") {
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
		if !strings.HasPrefix(line, wordMark) && !strings.HasPrefix(line, quoteMark) {
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
	for name, words := range map[string]string{
		"the whole dossier":   string(golden),
		"headings":            "x\nSOURCES\n=======\nSources read: 9\n",
		"claims":              "x\n  Claim 9.9\n      y\n  Quote 9.9.9, verified: README.md line 1, span 0\n    | z",
		"a wrap made to fit":  strings.Repeat("x", 94) + " Claim 9.9 " + strings.Repeat("y", 93) + " COST ====",
		"carriage returns":    "x\r  Claim 9.9\r\nCOST",
		"other line ends":     "x\u2028COST\u2029COST\u0085COST\vCOST\fCOST",
		"marks":               "    | x\n    > y\n> z\n| z",
		"terminal sequences":  "\x1b[2J\x1b[H\x9b2JCOST",
		"bidirectional marks": "\u202eTSOC\u2066x\u2069",
		"backspaces":          "x\b\b\bCOST",
	} {
		for _, base := range []wasm.Dossier{whole(), partial()} {
			plain, _ := assemble(fill(base, "x"))
			got, _ := assemble(fill(base, words))
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
		if visible.Text(string(r)) != string(r) {
			t.Fatalf("%U is not shown", r)
		}
	}
}

func TestInvisibleCharactersAreShown(t *testing.T) {
	p := &page{}
	p.words("a\u202eb\tc \\u{202E} \x1b[2J")
	p.quote(quoteMark, "a\u202eb\tc \\u{202E}\r\u200b\U000e0041")
	p.item("%s", name("a\u202eb\tc\n\" \\u{202E}"))
	want := `    > a\u{202E}b\u{0009}c \u{005C}u{202E} \u{001B}[2J` + "\n" +
		`    | a\u{202E}b` + "\t" + `c \u{005C}u{202E}\u{000D}\u{200B}\u{E0041}` + "\n" +
		`  "a\u{202E}b\u{0009}c\u{000A}\u{0022} \u{005C}u{202E}"` + "\n"
	if got := p.text.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

var escaped = regexp.MustCompile(`\\u\{([0-9A-F]+)\}`)

// readBack undoes quote.
func readBack(mark string, lines []string) string {
	var words []string
	for _, line := range lines {
		words = append(words, escaped.ReplaceAllStringFunc(strings.TrimPrefix(line, mark), func(e string) string {
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
		shown := strings.HasPrefix(lines[at.FromLine-1], fmt.Sprintf("  Quote %d.%d.%d, verified", at.Slot, at.Claim+1, at.Citation+1))
		if shown != (c.Status == statusVerified) {
			t.Fatalf("status %q shows as %q", c.Status, lines[at.FromLine-1])
		}
		switch got := lines[at.FromLine:at.ToLine]; c.Status {
		case statusVerified:
			expect(t, readBack(quoteMark, got), c.Quote)
		case statusNear:
			written := slices.Index(got, "  The source holds instead:")
			if written < 0 {
				t.Fatalf("no source words in %q", got)
			}
			expect(t, readBack(wordMark, got[1:written]), c.Quote)
			expect(t, readBack(quoteMark, got[written+1:]), c.SourceText)
		default:
			if unverified[c.Status] != "" {
				got = got[1:]
			}
			expect(t, readBack(wordMark, got), c.Quote)
		}
	}
}

func expect(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("got %q back from %q", got, want)
	}
}

func TestPlacementPointsAtEveryClaimAndQuote(t *testing.T) {
	for _, d := range []wasm.Dossier{whole(), partial(), hostile(), fill(partial(), "a\n\n\tb \\u{41}\u200b \n")} {
		text, p := assemble(d)
		checkPlacement(t, d, text, p)
	}
}

func TestUnverifiedQuotesStandOnlyUnderClaimsNotAdopted(t *testing.T) {
	text, _ := assemble(partial())
	adopted, rest, found := strings.Cut(string(text), "Not adopted, of slot")
	if !found || strings.Contains(adopted, "NOT VERIFIED") || strings.Contains(adopted, "NOT ADOPTED") {
		t.Errorf("before the unadopted claims:\n%s", adopted)
	}
	for _, want := range []string{"Quote 1.3.1, NOT VERIFIED, unobserved: no source", "Quote 1.4.1, NOT VERIFIED, near: S1 README.md line 3",
		"the passage it names does not hold:\n    > Leases never end.\n", "The source holds instead:\n    | \u201cten\u201d seconds\n", "No quote was given."} {
		if !strings.Contains(rest, want) {
			t.Errorf("no %q in\n%s", want, rest)
		}
	}
}

func TestQuotesFromBeyondPlainStatementsSaySo(t *testing.T) {
	for role, want := range map[string]string{
		"": "verified: ", wasm.RoleBody: "verified: ", wasm.RoleHidden: "verified, FROM HIDDEN TEXT: ",
		wasm.RoleExample: "verified, FROM AN EXAMPLE: ", wasm.RoleQuoted: "verified, FROM QUOTED WORDS: ",
		wasm.RoleFrontMatter: "verified, FROM FRONT MATTER: ", "new: kind": `verified, ROLE "new: kind": `,
	} {
		d := whole()
		d.Slots[0].Claims[0].Citations[0].Role = role
		if text, _ := assemble(d); !strings.Contains(string(text), "  Quote 1.1.1, "+want) {
			t.Errorf("no %q for role %q", want, role)
		}
	}
}

func TestSourcesOfOneNameAreToldApart(t *testing.T) {
	d := whole()
	other := d.Sources[0]
	other.Source = "src-2"
	d.Sources = append(d.Sources, other)
	d.Slots[1].Claims[0].Citations[0].Source = "src-2"
	text, _ := assemble(d)
	for _, want := range []string{"Quote 1.1.1, verified: S1 README.md", "Quote 2.1.1, verified: S2 README.md", "  S2  README.md, source src-2\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestACostIsOnlySaidWhenItIsKnown(t *testing.T) {
	for want, r := range map[string]wasm.DossierReceipt{
		"5 micro-USD (0.000005 USD), evidence reported": {State: "settled", Actual: 5, Evidence: "reported"},
		"0 micro-USD (0.000000 USD), evidence not_sent": {State: "settled", Evidence: "not_sent"},
		"none: never contacted":                         {State: "released"},
		"not known":                                     {State: "contacted"},
	} {
		if got := actual(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := usd(-9_000_000_000_000_001); got != "-9000000000.000001" {
		t.Error(got)
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
