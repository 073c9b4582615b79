package providertest

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/writ-kernel/writ/abi/provider"
	"github.com/writ-kernel/writ/abi/research"
)

// Charge is what an honest answer costs, in USD: 1,000 micro-USD.
const Charge = "0.001"

// Good quotes the beginning of the first passage, exactly, and charges Charge.
func Good(c Call) Answer { return quoting(c, func(exact string) string { return exact }) }

// FabricatedQuote cites words that stand in no passage.
func FabricatedQuote(c Call) Answer {
	return quoting(c, func(string) string { return "These words stand in no passage whatsoever." })
}

// ShiftedQuote cites a quote whose first letter was lost and whose end has one letter too many.
func ShiftedQuote(c Call) Answer {
	return quoting(c, func(exact string) string {
		_, first := utf8.DecodeRuneInString(exact)
		return exact[first:] + "§"
	})
}

// UnknownPassage cites a passage that the task does not have.
func UnknownPassage(c Call) Answer {
	out := child(c, func(exact string) string { return exact })
	for i := range out.Claims {
		out.Claims[i].Citations[0].Passage = research.PassageID(len(c.Task.Passages))
	}
	return answer(out)
}

// Garbage is text that is no JSON, and charges all the same.
func Garbage(Call) Answer {
	return Answer{Text: []byte("Sure! Here is what I found: {"), Finish: provider.FinishStop, Charge: Charge}
}

// Oversized is more text than any request allows.
func Oversized(Call) Answer {
	return Answer{Text: []byte(strings.Repeat("x", provider.MaxTextBytes+1)), Finish: provider.FinishStop, Charge: Charge}
}

// WithCharge is Good at another charge; "" reports none.
func WithCharge(charge string) func(Call) Answer {
	return func(c Call) Answer {
		a := Good(c)
		a.Charge = charge
		return a
	}
}

// Held is Good once the test calls Release.
func Held(c Call) Answer {
	a := Good(c)
	a.Hold = true
	return a
}

// Cut is Good, broken off in the middle.
func Cut(c Call) Answer {
	a := Good(c)
	a.Cut = true
	return a
}

// InOrder gives the n-th call the n-th answer and every later one the last.
func InOrder(answers ...func(Call) Answer) func(Call) Answer {
	return func(c Call) Answer { return answers[min(c.Seq, len(answers))-1](c) }
}

func quoting(c Call, change func(exact string) string) Answer { return answer(child(c, change)) }

func child(c Call, change func(exact string) string) research.ChildOutput {
	out := research.ChildOutput{
		Perspective:    c.Task.Perspective,
		Claims:         []research.Claim{},
		Uncertainty:    "Answered by the counting test adapter.",
		Contradictions: []research.Claim{},
	}
	for _, p := range c.Task.Passages {
		exact := beginning(p.Text)
		if len(exact) < 2 {
			continue
		}
		out.Claims = append(out.Claims, research.Claim{
			Text:      strings.Join(strings.Fields(exact), " "),
			Citations: []research.Citation{{Passage: p.ID, Quote: change(exact)}},
		})
		break
	}
	return out
}

// beginning is the first line that is long enough to be quoted, without its outer white space.
func beginning(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= 20 && len(line) <= research.MaxClaimBytes {
			return line
		}
	}
	return ""
}

// answer writes without the strict checks, because some answers are wrong on purpose.
func answer(out research.ChildOutput) Answer {
	raw, err := json.Marshal(out)
	if err != nil {
		raw = nil // an answer of no bytes is wrong too
	}
	return Answer{Text: raw, Finish: provider.FinishStop, Charge: Charge}
}
