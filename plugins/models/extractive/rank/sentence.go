package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/writ-kernel/writ/abi/research"
)

// A sentence is the bytes [start, end) of one passage's text, never of two.
type sentence struct {
	passage    int
	start, end int
	quote      string
	headings   []string // terms of the headings it stands under
}

// cut finds every sentence that may be selected, in order.
func cut(passages []research.Passage) []sentence {
	var out []sentence
	var above outline
	for i, p := range passages {
		if i == 0 || p.Source != passages[i-1].Source {
			above = outline{}
		}
		if silent(p) {
			continue
		}
		hidden := comments(p.Text)
		for _, b := range blocks(p) {
			if b.level > 0 {
				above.enter(b.level, terms(p.Text[b.start:b.end]))
				continue
			}
			headings := above.terms()
			for _, span := range spans(p.Text, b) {
				s := sentence{passage: i, start: span[0], end: span[1], quote: p.Text[span[0]:span[1]], headings: headings}
				if !overlaps(hidden, span) && s.selectable() {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// selectable refuses what cannot stand as a claim: fragments, questions, the lead of a list, and
// text that the answer could not carry whole.
func (s sentence) selectable() bool {
	text := s.text()
	end := strings.TrimRight(text, `"')*_`+"`")
	return len(s.quote) <= research.MaxQuoteBytes && len(text) <= research.MaxClaimBytes &&
		strings.Count(text, " ") >= 2 &&
		!strings.HasSuffix(end, "?") && !strings.HasSuffix(end, ":") &&
		!strings.ContainsFunc(s.quote, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) })
}

// text is the sentence on one line: the same words, white space joined.
func (s sentence) text() string { return strings.Join(strings.Fields(s.quote), " ") }

// spans cuts a block at Unicode sentence boundaries (UAX #29), and takes back those that the
// standard's locale-free rules set too eagerly.
func spans(text string, b block) [][2]int {
	if b.whole {
		return trimmed(text, b.start, b.end, nil)
	}
	// Line ends count as paragraph ends there, but prose is wrapped; a space is as long.
	flat := strings.NewReplacer("\n", " ", "\r", " ").Replace(text[b.start:b.end])
	var out [][2]int
	from := 0
	for it := sentences.FromString(flat); it.Next(); {
		if end := it.End(); end == len(flat) || !runsOn(flat[from:end], flat[end:]) {
			out = trimmed(text, b.start+from, b.start+end, out)
			from = end
		}
	}
	return out
}

func trimmed(text string, start, end int, out [][2]int) [][2]int {
	run := text[start:end]
	start += len(run) - len(strings.TrimLeftFunc(run, unicode.IsSpace))
	end = start + len(strings.TrimSpace(run))
	if start < end {
		out = append(out, [2]int{start, end})
	}
	return out
}

// Abbreviations that end in a full stop without ending a sentence: always, before a number, or
// before a name.
var (
	alwaysRunsOn = set("e.g.", "i.e.", "cf.", "vs.", "viz.", "resp.")
	beforeNumber = set("no.", "nos.", "fig.", "figs.", "sec.", "ch.", "eq.", "p.", "pp.", "vol.", "ver.", "ca.", "approx.")
	beforeName   = set("dr.", "mr.", "mrs.", "ms.", "prof.", "st.")
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// runsOn says that the boundary between done and rest is none.
func runsOn(done, rest string) bool {
	trimmedDone := strings.TrimRightFunc(done, unicode.IsSpace)
	if len(trimmedDone) == len(done) {
		// A boundary without white space is inside a URL, a path or an operator, except in scripts
		// that write no spaces.
		last, _ := utf8.DecodeLastRuneInString(done)
		return !strings.ContainsRune("。！？｡", last)
	}
	if strings.Count(done, "`")%2 == 1 && strings.Contains(rest, "`") {
		return true
	}
	words := strings.Fields(trimmedDone)
	if len(words) == 0 {
		return true
	}
	written := strings.TrimLeft(words[len(words)-1], `("'[*_`)
	last := strings.ToLower(written)
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case alwaysRunsOn[last]:
		return true
	case beforeNumber[last]:
		return unicode.IsDigit(next)
	case beforeName[last]:
		return unicode.IsUpper(next)
	case len(words) == 1 && strings.Trim(last, "0123456789.)") == "":
		return true // a number that opens the line
	}
	// Joining "vitamin C. Then" does less harm than ending a claim at "by J.".
	return isInitial(written) && unicode.IsUpper(next)
}

func isInitial(word string) bool {
	r, n := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r) && word[n:] == "."
}

// comments lists the spans of HTML comments: nobody who reads the rendered document sees them, so
// an instruction there must not come out as what the document says. One left open runs to the end.
func comments(text string) [][2]int {
	var out [][2]int
	for at := 0; ; {
		i := strings.Index(text[at:], "<!--")
		if i < 0 {
			return out
		}
		start := at + i
		end := len(text)
		if j := strings.Index(text[start:], "-->"); j >= 0 {
			end = start + j + len("-->")
		}
		out = append(out, [2]int{start, end})
		at = end
	}
}

func overlaps(ranges [][2]int, span [2]int) bool {
	for _, r := range ranges {
		if span[0] < r[1] && r[0] < span[1] {
			return true
		}
	}
	return false
}

// outline is the chain of headings above the current position, by level.
type outline [6][]string

func (o *outline) enter(level int, terms []string) {
	o[level-1] = terms
	for i := level; i < len(o); i++ {
		o[i] = nil
	}
}

func (o *outline) terms() []string {
	var out []string
	for _, level := range o {
		out = append(out, level...)
	}
	return out
}
