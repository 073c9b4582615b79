package rank

import (
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/kljensen/snowball/english"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Words that questions are made of and that say nothing about their subject, beyond the stemmer's
// own list.
var questionWords = set("may", "might", "must", "shall", "would", "could", "cannot", "can't", "many", "much",
	"also", "whose", "got", "get", "gets", "happen", "happens", "tell", "explain", "describe", "kind", "kinds",
	"without", "within", "whether", "else", "ever", "one")

// A word is a token as written and the terms it is searched by.
type word struct {
	text  string
	terms []string
}

// contentWords are the words of text that carry meaning, in order.
func contentWords(text string) []word {
	fold := cases.Fold() // stateful, so one per call
	var out []word
	for it := words.FromString(text); it.Next(); {
		raw := it.Value()
		if !strings.ContainsFunc(raw, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			continue
		}
		// Compatibility forms match here, on copies, and only to find: a quote keeps its own bytes.
		folded := fold.String(norm.NFKC.String(raw))
		folded = strings.TrimSuffix(strings.TrimSuffix(folded, "'s"), "’s")
		if folded == "" || english.IsStopWord(folded) || questionWords[folded] {
			continue
		}
		w := word{text: raw, terms: []string{stem(folded)}}
		// research_wait_sources and record.proto are found by their parts too.
		if parts := strings.FieldsFunc(folded, func(r rune) bool { return r == '_' || r == '.' }); len(parts) > 1 {
			for _, part := range parts {
				if len(part) > 1 && !english.IsStopWord(part) {
					w.terms = append(w.terms, stem(part))
				}
			}
		}
		out = append(out, w)
	}
	return out
}

// terms are the search terms of text, in order, with repetitions.
func terms(text string) []string {
	var out []string
	for _, w := range contentWords(text) {
		out = append(out, w.terms...)
	}
	return out
}

// pairs are the neighbours among terms: a sentence that keeps two words of the question together
// is more likely to be about what was asked.
func pairs(terms []string) []string {
	var out []string
	for i := 1; i < len(terms); i++ {
		out = append(out, terms[i-1]+" "+terms[i])
	}
	return out
}

// stem folds English inflection and leaves every other word alone.
func stem(folded string) string {
	for _, r := range folded {
		if r < 'a' || r > 'z' {
			return folded
		}
	}
	return english.Stem(folded, false)
}
