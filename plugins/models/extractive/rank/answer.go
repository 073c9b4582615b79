package rank

import (
	"errors"
	"fmt"
	"strings"

	"github.com/writ-kernel/writ/abi/research"
)

// bytesPerToken turns a token bound into bytes, since there is no tokenizer here to count with.
const bytesPerToken = 4

// ErrBound means that not even an answer without claims fits the caller's output bound.
var ErrBound = errors.New("the output bound is too small for any answer")

// Answer ranks the task's sentences and returns the answer as strict JSON of at most maxBytes bytes
// and maxTokens tokens; 0 means the schema's own bound. Claims that do not fit are left out whole,
// lowest ranked first, and the note says how many.
func Answer(task research.Task, maxBytes, maxTokens int) ([]byte, error) {
	limit := research.MaxOutputBytes
	if maxBytes > 0 {
		limit = min(limit, maxBytes)
	}
	if maxTokens > 0 {
		limit = min(limit, maxTokens*bytesPerToken)
	}
	q := query(task.Question, task.Perspective)
	list := cut(task.Passages)
	picked := choose(score(list, q), q)
	for dropped := 0; ; dropped++ {
		raw, err := research.MarshalChildOutput(research.ChildOutput{
			Perspective:    task.Perspective,
			Claims:         claims(task, picked),
			Uncertainty:    note(task, list, picked, dropped),
			Contradictions: []research.Claim{},
		})
		if err == nil && len(raw) <= limit {
			return raw, nil
		}
		if len(picked) == 0 {
			if err == nil {
				err = ErrBound
			}
			return nil, err
		}
		picked = picked[:len(picked)-1]
	}
}

func claims(task research.Task, picked []scored) []research.Claim {
	out := make([]research.Claim, 0, len(picked))
	for _, s := range picked {
		out = append(out, research.Claim{
			Text:      s.text(),
			Citations: []research.Citation{{Passage: task.Passages[s.passage].ID, Quote: s.quote}},
		})
	}
	return out
}

// Bounds of the list of words in a note.
const (
	maxNotedWords     = 12
	maxNotedWordBytes = 48
)

// note is the one text written here: how the claims came about and what they do not answer.
func note(task research.Task, list []sentence, picked []scored, dropped int) string {
	var b strings.Builder
	b.WriteString("No language model was used: exact sentences were ranked by word statistics (BM25) and copied; " +
		"nothing was interpreted, combined or checked for truth.")
	switch {
	case len(list) == 0:
		b.WriteString(" The passages hold no sentence that could stand as a claim.")
	case len(picked) == 0 && dropped == 0:
		b.WriteString(" No sentence of the passages is close enough to the question.")
	}
	if dropped > 0 {
		fmt.Fprintf(&b, " %d further sentences did not fit the output bound.", dropped)
	}
	if missing := unsupported(task.Question, picked); len(missing) > 0 {
		fmt.Fprintf(&b, " Words of the question that no selected sentence holds: %s.", strings.Join(missing, ", "))
	}
	return b.String()
}

// unsupported lists the question's words that no selected sentence holds in any inflection, as the
// question writes them.
func unsupported(question string, picked []scored) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range contentWords(question) {
		if seen[w.terms[0]] || len(w.text) > maxNotedWordBytes {
			continue
		}
		seen[w.terms[0]] = true
		held := false
		for _, s := range picked {
			held = held || s.own[w.terms[0]]
		}
		if held {
			continue
		}
		if len(out) == maxNotedWords {
			return append(out, "…")
		}
		out = append(out, w.text)
	}
	return out
}
