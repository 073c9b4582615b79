package evidence

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/canon"
)

func TestQuoteIsVerifiedOnlyByItsBytes(t *testing.T) {
	marks := func(n int) string { return "e" + strings.Repeat("\u0301", n) }
	for _, c := range []struct {
		name, source, quote string
		status              string
		verdict             Verdict
		sourceText          string
	}{
		{"exact", "The ledger never forgets.\n", "ledger never forgets", StatusVerified, VerdictExact, ""},
		{"exact over a line end", "one line\r\nand the next\n", "line\nand the", StatusVerified, VerdictExact, ""},
		{"exact with every oddity kept", "a\ufeff“x”\u202e\u00ad ﬁ!\n", "a\ufeff“x”\u202e\u00ad ﬁ!", StatusVerified, VerdictExact, ""},
		{"other case", "The ledger never forgets.\n", "the Ledger never forgets", StatusUnobserved, VerdictAbsent, ""},
		{"fabricated", "The ledger never forgets.\n", "the ledger always forgets", StatusUnobserved, VerdictAbsent, ""},
		{"empty", "text\n", "", StatusUnobserved, VerdictTooShort, ""},
		{"white space alone", "a" + strings.Repeat(" ", 20) + "b\n", strings.Repeat(" ", 12), StatusUnobserved, VerdictTooShort, ""},
		{"too short", "The ledger never forgets.\n", "ledger", StatusUnobserved, VerdictTooShort, ""},
		{"too short but for what is invisible", "x ab\u200b\u200b\u200b\u200b\u200b\u200b y\n", "ab\u200b\u200b\u200b\u200b\u200b\u200b", StatusUnobserved, VerdictTooShort, ""},
		{"whole passage, however short", "Yes.\n", "Yes.", StatusVerified, VerdictExact, ""},
		{"whole passage with its line end", "Yes.\n", "Yes.\n", StatusVerified, VerdictExact, ""},
		{"whole passage but for what is invisible", "\u200bYes.\n", "Yes.", StatusUnobserved, VerdictTooShort, ""},
		{"invalid UTF-8 quote", "The ledger never forgets.\n", "ledger never\xff", StatusUnobserved, VerdictAbsent, ""},

		{"NFD source, NFC quote", "cafe\u0301", "café", StatusNear, VerdictCanonical, "cafe\u0301"},
		{"NFC source, NFD quote", "un café fermé\n", "cafe\u0301 ferme\u0301", StatusNear, VerdictCanonical, "café fermé"},
		{"marks in another order", "q\u0307\u0323", "q\u0323\u0307", StatusNear, VerdictCanonical, "q\u0307\u0323"},
		{"Hangul syllable and jamo", "한글 문서의 인용문", "\u1112\u1161\u11ab글 문서의 인용", StatusNear, VerdictCanonical, "한글 문서의 인용"},
		{"unaccented quote", "the résumé of it\n", "the resume of it", StatusUnobserved, VerdictAbsent, ""},
		{"NFD source never parts a letter from its mark", "the old cafe\u0301\n", "\u200bthe old cafe", StatusUnobserved, VerdictAbsent, ""},
		{"many marks, exact", marks(40), marks(40), StatusVerified, VerdictExact, ""},
		{"many marks, one composed", "é" + strings.Repeat("\u0301", 39), marks(40), StatusNear, VerdictCanonical, "é" + strings.Repeat("\u0301", 39)},
		{"many marks, another number", marks(40), marks(39) + "x", StatusUnobserved, VerdictAbsent, ""},

		{"ligature", "of\ufb01ce", "office", StatusNear, VerdictFolded, "of\ufb01ce"},
		{"ligature is not split", "the of\ufb01cers came\n", "\u200bcers came", StatusNear, VerdictFolded, "cers came"},
		{"ligature cut in half", "the of\ufb01cers came\n", "icers came", StatusUnobserved, VerdictAbsent, ""},
		{"soft hyphen at a line end", "Kata\u00ad\nlog", "Katalog", StatusNear, VerdictFolded, "Kata\u00ad\nlog"},
		{"soft hyphen at a line end with spaces", "Kata\u00ad  \r\n  log", "Katalog", StatusNear, VerdictFolded, "Kata\u00ad  \n  log"},
		{"soft hyphen", "co\u00adoperate", "cooperate", StatusNear, VerdictFolded, "co\u00adoperate"},
		{"soft hyphen before a space", "co\u00ad operate\n", "co operate", StatusNear, VerdictFolded, "co\u00ad operate"},
		{"curly quotes and no-break hyphen", "\u201cnon\u2011breaking\u201d", "\"non-breaking\"", StatusNear, VerdictFolded, "\u201cnon\u2011breaking\u201d"},
		{"straight source, curly quote", "it's not \"done\" yet\n", "it’s not “done” yet", StatusNear, VerdictFolded, "it's not \"done\" yet"},
		{"dash", "one — two — three\n", "one - two - three", StatusNear, VerdictFolded, "one — two — three"},
		{"no-break space", "10\u00a0km", "10 km", StatusNear, VerdictFolded, "10\u00a0km"},
		{"other spaces", "ten\u2009thousand\u3000and\u202fone\n", "ten thousand and one", StatusNear, VerdictFolded, "ten\u2009thousand\u3000and\u202fone"},
		{"line break for a space", "a long\nline of text\n", "a long line of text", StatusNear, VerdictFolded, "a long\nline of text"},
		{"run of spaces", "a long    line of text\n", "a long line of text", StatusNear, VerdictFolded, "a long    line of text"},
		{"word joiner and zero-width space", "pass\u2060word\u200bfile\n", "passwordfile", StatusNear, VerdictFolded, "pass\u2060word\u200bfile"},
		{"tag characters in the quote", "password file\n", "pass\U000e0041word file", StatusNear, VerdictFolded, "password file"},
		{"growth is capped", "\ufdfa", "صلى الله عليه وسلم", StatusUnobserved, VerdictAbsent, ""},
		{"growth is capped, exact stays", "\ufdfa", "\ufdfa", StatusVerified, VerdictExact, ""},

		{"ellipsis joins nothing", "may not be closed early\n", "may ... be closed early", StatusUnobserved, VerdictAbsent, ""},
		{"ellipsis character joins nothing", "may not be closed early\n", "may … be closed early", StatusUnobserved, VerdictAbsent, ""},
		{"bracketed ellipsis joins nothing", "may not be closed early\n", "may [...] be closed early", StatusUnobserved, VerdictAbsent, ""},
		{"outer ellipsis is not stripped", "may not be closed early\n", "... be closed early", StatusUnobserved, VerdictAbsent, ""},
		{"ellipsis that the source has", "wait… what happened\n", "wait... what happened", StatusNear, VerdictFolded, "wait… what happened"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, text := tableOf(t, c.source)
			got, verdict := table.Bind("p1", c.quote)
			if got.Status != c.status || verdict != c.verdict || got.SourceText != c.sourceText {
				t.Fatalf("status %s, verdict %s, source text %q", got.Status, verdict, got.SourceText)
			}
			checkCitation(t, table, text, got)
		})
	}
}

// checkCitation holds for every citation that Bind makes.
func checkCitation(t testing.TB, table *Table, text *Text, c Citation) {
	t.Helper()
	if b, err := canon.Marshal(c); err != nil {
		t.Fatalf("not fit for JSON: %v", err)
	} else {
		var back Citation
		if err := canon.Unmarshal(b, &back); err != nil || back != c {
			t.Fatalf("JSON gives %+v, %v", back, err)
		}
	}
	if s := table.Reverify(c); s != c.Status {
		t.Fatalf("table: reverified as %s, bound as %s", s, c.Status)
	}
	if s := Reverify(text, c); s != c.Status {
		t.Fatalf("text: reverified as %s, bound as %s", s, c.Status)
	}
	if c.Status == StatusUnobserved {
		if c.Start != 0 || c.End != 0 || c.RawStart != 0 || c.RawEnd != 0 || c.FromLine != 0 || c.SpanSHA256 != "" || c.SourceText != "" {
			t.Fatalf("an unobserved quote points somewhere: %+v", c)
		}
		return
	}
	p := table.Passages()[0]
	cut, err := text.Cut(Span{c.Start, c.End})
	if err != nil || !p.Span().contains(Span{c.Start, c.End}) || c.SpanSHA256 != canon.Digest([]byte(cut)) {
		t.Fatalf("span [%d, %d) %q: %v", c.Start, c.End, cut, err)
	}
	if want := c.Status == StatusVerified; (cut == c.Quote) != want {
		t.Fatalf("%s, source %q, quote %q", c.Status, cut, c.Quote)
	}
	if c.Status == StatusVerified {
		if first := strings.Index(text.String()[text.byteOf(p.Start):], cut); text.byteOf(p.Start)+first != text.byteOf(c.Start) {
			t.Fatalf("not the first occurrence")
		}
	}
	if c.FromLine != text.LineOf(c.Start) || c.ToLine != text.LineOf(c.End-1) {
		t.Fatalf("lines %d to %d", c.FromLine, c.ToLine)
	}
}

func TestQuoteIsSoughtInItsPassageOnly(t *testing.T) {
	text := mustText(t, "first words here\nsecond words here\nthird words here\n")
	segments := []Segment{body(0, 17), body(17, 35), body(35, 52)}
	table := &Table{}
	if err := table.Add(text, "s", "n", segments, []LineRange{{1, 2}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, passage, quote, status string
		verdict                      Verdict
	}{
		{"its own", "p2", "second words", StatusVerified, VerdictExact},
		{"another passage's", "p1", "second words", StatusUnobserved, VerdictAbsent},
		{"not shown at all", "p2", "third words", StatusUnobserved, VerdictAbsent},
		{"over the passage's end", "p1", "words here\nsecond", StatusUnobserved, VerdictAbsent},
		{"folded over the passage's end", "p1", "words here second", StatusUnobserved, VerdictAbsent},
		{"no such passage", "p3", "third words", StatusUnobserved, VerdictUnknownPassage},
		{"passage 0", "p0", "first words", StatusUnobserved, VerdictUnknownPassage},
		{"other spelling of an ID", "p01", "first words", StatusUnobserved, VerdictUnknownPassage},
		{"no ID", "", "first words", StatusUnobserved, VerdictUnknownPassage},
		{"invalid ID", "p\xff", "first words\xff", StatusUnobserved, VerdictUnknownPassage},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, verdict := table.Bind(c.passage, c.quote)
			if got.Status != c.status || verdict != c.verdict {
				t.Fatalf("%s, %s", got.Status, verdict)
			}
			if table.Reverify(got) != got.Status || Reverify(text, got) != got.Status {
				t.Fatal("does not hold when recomputed")
			}
			if _, err := canon.Marshal(got); err != nil {
				t.Fatal(err)
			}
		})
	}
	if _, verdict := (&Table{}).Bind("p1", "anything at all"); verdict != VerdictUnknownPassage {
		t.Fatal(verdict)
	}
}

func TestFirstOccurrenceIsTheSpan(t *testing.T) {
	table, _ := tableOf(t, "\ufeffé same words, same words\r\n")
	c, _ := table.Bind("p1", "same words")
	if c.Start != 2 || c.End != 12 || c.RawStart != 6 || c.RawEnd != 16 || c.FromLine != 1 || c.ToLine != 1 {
		t.Fatalf("%+v", c)
	}
}

func TestRawRangeOfACitationCoversItsCRLFs(t *testing.T) {
	table, _ := tableOf(t, "a\r\nquoted one\r\nquoted two\r\nb\r\n")
	c, _ := table.Bind("p1", "quoted one\nquoted two\n")
	if c.RawStart != 3 || c.RawEnd != 27 || c.FromLine != 2 || c.ToLine != 3 || c.Status != StatusVerified {
		t.Fatalf("%+v", c)
	}
}

// A naive search decides for random texts and quotes whether a quote is there.
func TestBindAgreesWithNaiveSearch(t *testing.T) {
	verdicts := map[Verdict]int{}
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 2))
		table, text := tableOf(t, random(r, 60)+"end")
		runes := []rune(text.String())
		i := r.IntN(len(runes))
		quote := string(runes[i : i+r.IntN(len(runes)-i+1)])
		if r.IntN(2) == 0 {
			quote = strings.NewReplacer("“", `"`, "\u00a0", " ", "é", "e\u0301", "ﬁ", "fi", "—", "-", "\u00ad", "").Replace(quote)
		}
		if r.IntN(4) == 0 {
			quote = random(r, 12)
		}
		c, verdict := table.Bind("p1", quote)
		verdicts[verdict]++
		checkCitation(t, table, text, c)
		there := strings.Contains(text.String(), quote)
		if c.Status == StatusVerified && !there || there && !tooShort(quote) && c.Status != StatusVerified {
			t.Fatalf("seed %d: %s for %q in %q", seed, c.Status, quote, text.String())
		}
	}
	for _, v := range []Verdict{VerdictExact, VerdictCanonical, VerdictFolded, VerdictAbsent, VerdictTooShort} {
		if verdicts[v] == 0 {
			t.Errorf("no random case came to %s", v)
		}
	}
}

func TestFoldingIsBounded(t *testing.T) {
	for name, s := range map[string]string{
		"long expansions": strings.Repeat("\ufdfa\ufdfb", 2000),
		"canonical fours": strings.Repeat("\u1f82", 2000),
		"marks":           "e" + strings.Repeat("\u0301\u0323", 20000),
		"soft hyphens":    strings.Repeat("\u00ad\n", 20000),
		"invisible":       strings.Repeat("\u200b", 20000),
	} {
		for _, mode := range []foldMode{foldCanonical, foldFull} {
			if f := fold(s, mode); len(f.runes) > maxGrowth*utf8.RuneCountInString(s) {
				t.Errorf("%s: %d code points became %d", name, utf8.RuneCountInString(s), len(f.runes))
			}
		}
	}
}

func TestMarksAreOrderedWindowByWindow(t *testing.T) {
	f := fold("e"+strings.Repeat("\u0301\u0323", maxMarks), foldCanonical) // classes 230, 220
	for i := 1; i <= 2*maxMarks; i++ {
		want := uint8(220)
		if (i-1)%maxMarks >= maxMarks/2 {
			want = 230
		}
		if f.class[i] != want || f.to[i] != f.from[i]+1 {
			t.Fatalf("mark %d has class %d, want %d", i, f.class[i], want)
		}
	}
}

func TestOccurrencesAreThoseOfNaiveSearch(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		draw := func(n int) []rune {
			out := make([]rune, r.IntN(n+1))
			for i := range out {
				out[i] = rune('a' + r.IntN(2))
			}
			return out
		}
		text, part := draw(40), draw(5)
		var want []int
		for i := 0; len(part) > 0 && i+len(part) <= len(text); i++ {
			if string(text[i:i+len(part)]) == string(part) {
				want = append(want, i)
			}
		}
		got := occurrences(text, part)
		if len(got) != len(want) {
			t.Fatalf("%q in %q: %v, want %v", string(part), string(text), got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%q in %q: %v, want %v", string(part), string(text), got, want)
			}
		}
	}
}

func FuzzBind(f *testing.F) {
	f.Add("Kata\u00ad\r\nlog of things", "Katalog of things")
	f.Add("may not be closed early", "may ... be closed early")
	f.Add("\ufeffof\ufb01ce hours", "office hours")
	f.Add("e\u0301\u0323\u0301 abcdefgh", "é\u0323\u0301 abcdefgh")
	f.Fuzz(func(t *testing.T, raw, quote string) {
		if _, _, ok := naive([]byte(raw)); !ok {
			return
		}
		table, text := tableOf(t, raw)
		c, _ := table.Bind("p1", quote)
		if len(table.Passages()) == 0 {
			if c.Status != StatusUnobserved {
				t.Fatal(c.Status)
			}
			return
		}
		checkCitation(t, table, text, c)
	})
}
