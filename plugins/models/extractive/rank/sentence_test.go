package rank

import (
	"reflect"
	"testing"

	"github.com/writ-kernel/writ/abi/research"
)

func quotes(passages ...research.Passage) []string {
	out := []string{}
	for _, s := range cut(passages) {
		out = append(out, s.quote)
	}
	return out
}

func TestSentencesEndWhereSentencesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"plain":                {"The lease is held. The fence grows.", []string{"The lease is held.", "The fence grows."}},
		"wrapped lines":        {"The lease is\nheld by one\r\nworker. The fence is\nper job.", []string{"The lease is\nheld by one\r\nworker.", "The fence is\nper job."}},
		"version numbers":      {"Use v1.2 or Go 1.26.8 for this. Then build it.", []string{"Use v1.2 or Go 1.26.8 for this.", "Then build it."}},
		"abbreviation":         {"Some words, e.g. Lease and fence, i.e. Terms, are fixed. Others are not.", []string{"Some words, e.g. Lease and fence, i.e. Terms, are fixed.", "Others are not."}},
		"title and initial":    {"It was read by Dr. Okafor and J. R. Smith twice. They agreed on it.", []string{"It was read by Dr. Okafor and J. R. Smith twice.", "They agreed on it."}},
		"numbered reference":   {"The bound is in sec. 4 and fig. 12 of it. It is fixed there.", []string{"The bound is in sec. 4 and fig. 12 of it.", "It is fixed there."}},
		"the word no":          {"The answer to that is no. Leases end alone.", []string{"The answer to that is no.", "Leases end alone."}},
		"URL with query":       {"Read https://example.org/A.Html?q=B!C.D#E for that. It is long.", []string{"Read https://example.org/A.Html?q=B!C.D#E for that.", "It is long."}},
		"file name":            {"The file README.md names it. Look at main.go too.", []string{"The file README.md names it.", "Look at main.go too."}},
		"code span":            {"Call `store.Open. Then Close` in order. Nothing else is needed.", []string{"Call `store.Open. Then Close` in order.", "Nothing else is needed."}},
		"ellipsis inside":      {"It waits ... and then goes on. It ends there.", []string{"It waits ... and then goes on.", "It ends there."}},
		"quotation":            {"He wrote \"It is done.\" Then he left us. ", []string{"He wrote \"It is done.\"", "Then he left us."}},
		"no space script":      {"这是 第一 个 句子。这是 第二 个 句子。", []string{"这是 第一 个 句子。", "这是 第二 个 句子。"}},
		"list items":           {"There are two:\n- one is a lease\n  over a job\n- two is a fence\n1. first comes one\n2) second comes two", []string{"one is a lease\n  over a job", "two is a fence", "first comes one", "second comes two"}},
		"item with sentences":  {"* It is first. It is still that.\n* It is second then.", []string{"It is first.", "It is still that.", "It is second then."}},
		"minus is no marker":   {"It is 3\n-4 in this case.", []string{"It is 3\n-4 in this case."}},
		"headings":             {"# One two three\nBody text is here.\n\nFour five six\n===\nMore text is here.\n#hash is no heading", []string{"Body text is here.", "More text is here.\n#hash is no heading"}},
		"fenced code":          {"Before the code fence.\n````go\nfunc a is no claim\n```\nstill no claim here\n````\nAfter the code fence.", []string{"Before the code fence.", "After the code fence."}},
		"unclosed fence":       {"Before the code fence.\n~~~\nnever a claim here", []string{"Before the code fence."}},
		"table":                {"| name | what it is |\n|---|---|\n| lease | who may act. Until when. |", []string{"| lease | who may act. Until when. |"}},
		"question":             {"Who holds the lease? One worker holds it.", []string{"One worker holds it."}},
		"fragment":             {"Yes. No way. This one counts.", []string{"This one counts."}},
		"comment":              {"It is said here. <!-- Obey me at once. --> It goes on then. <!-- never closed. So it ends", []string{"It is said here."}},
		"quote marker":         {"> It was said before. It still holds now.", []string{"It was said before.", "It still holds now."}},
		"control character":    {"It rings a \x07 bell here. It is silent now.", []string{"It is silent now."}},
		"only white space":     {" \n\t\n ", []string{}},
		"line separator first": {"\u2028It starts here then.", []string{"It starts here then."}},
		"rule between":         {"First part is here.\n\n---\n\nSecond part is here.", []string{"First part is here.", "Second part is here."}},
		"number opens a line":  {"12. It is the twelfth. It is last.", []string{"It is the twelfth.", "It is last."}},
		"blank line separates": {"no full stop here\n\nand none here either", []string{"no full stop here", "and none here either"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := quotes(research.Passage{ID: "p1", Text: c.text}); !reflect.DeepEqual(got, c.want) {
				t.Fatalf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestPassagesThatAssertNothingGiveNoSentence(t *testing.T) {
	const text = "It looks like a sentence."
	for name, p := range map[string]research.Passage{
		"heading":      {Kind: "heading", Text: text},
		"code":         {Kind: "code", Text: text},
		"front matter": {Kind: "front_matter", Text: text},
		"html":         {Kind: "html", Text: text},
		"hidden":       {Kind: "paragraph", Role: "hidden", Text: text},
		"example":      {Kind: "paragraph", Role: "example", Text: text},
	} {
		t.Run(name, func(t *testing.T) {
			if got := quotes(p); len(got) != 0 {
				t.Fatalf("got %q", got)
			}
		})
	}
	for name, p := range map[string]research.Passage{
		"paragraph": {Kind: "paragraph", Text: text},
		"list item": {Kind: "list_item", Text: "- " + text},
		"quote":     {Kind: "quote", Role: "quoted", Text: "> " + text},
		"unknown":   {Kind: "something", Text: text},
	} {
		t.Run(name, func(t *testing.T) {
			if got := quotes(p); !reflect.DeepEqual(got, []string{text}) {
				t.Fatalf("got %q", got)
			}
		})
	}
}

func TestHeadingsGovernOnlyWhatStandsUnderThem(t *testing.T) {
	list := cut([]research.Passage{
		{Source: "a", Kind: "heading", Text: "# Storage"},
		{Source: "a", Kind: "heading", Text: "## Badger"},
		{Source: "a", Kind: "paragraph", Text: "It is under both."},
		{Source: "a", Kind: "heading", Text: "## Witness"},
		{Source: "a", Kind: "paragraph", Text: "It is under the second."},
		{Source: "b", Kind: "paragraph", Text: "It is under none."},
	})
	var got [][]string
	for _, s := range list {
		got = append(got, s.headings)
	}
	want := [][]string{{"storag", "badger"}, {"storag", "wit"}, nil}
	want[1][1] = stem("witness")
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %q", got)
	}
}

func TestTermsMeetAcrossSpelling(t *testing.T) {
	for a, b := range map[string]string{
		"Leases":                "lease",
		"RENEWED":               "renewing",
		"cafe\u0301":            "café",
		"ofﬁce":                 "office",
		"STRASSE":               "straße",
		"provider's":            "providers",
		"research_wait_sources": "research_wait_sources",
	} {
		if x, y := terms(a), terms(b); len(x) == 0 || x[0] != y[0] {
			t.Errorf("%q gives %q, %q gives %q", a, x, b, y)
		}
	}
	if got := terms("research_wait_sources"); len(got) != 4 {
		t.Errorf("parts %q", got)
	}
	if got := terms("What is it and how may one?"); len(got) != 0 {
		t.Errorf("stop words left %q", got)
	}
}
