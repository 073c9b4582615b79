package main

import (
	"fmt"
	"strings"

	"github.com/writ-kernel/writ/abi/wasm"
)

// disagreements words what slots declared and what comparing spans found.
func disagreements(p *page, known known, d wasm.Dossier) {
	p.section("CONTRADICTIONS AND CONFLICTS")
	p.say("Contradictions are listed as the slots declared them. Conflicts are claims of different words on the" +
		" very same span, found by comparing bytes. No semantic detection is claimed: claims may contradict" +
		" each other without being listed.")
	declared := 0
	for _, s := range d.Slots {
		for i, c := range s.Contradictions {
			declared++
			p.blank()
			number := fmt.Sprintf("c%d.%d", s.Slot, i+1)
			p.item("Contradiction %s, declared by slot %d", number, s.Slot)
			p.words(c.Text)
			for j, cite := range c.Citations {
				citation(p, known, fmt.Sprintf("%s.%d", number, j+1), cite)
			}
		}
	}
	if declared == 0 {
		p.blank()
		p.item("No slot declared a contradiction.")
	}
	if declared > 0 || len(d.Conflicts) > 0 {
		p.blank()
	}
	for i, group := range d.Conflicts {
		refs := make([]string, len(group.Claims))
		for j, ref := range group.Claims {
			refs[j] = fmt.Sprintf("%d.%d", ref.Slot, ref.Claim+1)
		}
		p.item("Conflict %d, on span %s: claims %s", i+1, short(group.SpanSHA256), strings.Join(refs, ", "))
	}
	if len(d.Conflicts) == 0 {
		p.item("No two claims rest on the same span in different words.")
	}
}
