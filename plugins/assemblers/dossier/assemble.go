package main

import (
	"fmt"

	"github.com/writ-kernel/writ/abi/wasm"
)

// assemble words a checked manifest.
func assemble(d wasm.Dossier) ([]byte, wasm.Placement) {
	p := &page{}
	places := wasm.Placement{Claims: []wasm.ClaimPlace{}, Citations: []wasm.CitationPlace{}}
	opening(p, d)
	for _, s := range d.Slots {
		perspective(p, &places, s)
	}
	contradictions(p, d)
	sources(p, d)
	costs(p, d)
	appendix(p, d)
	return p.text.Bytes(), places
}

func opening(p *page, d wasm.Dossier) {
	p.section("RESEARCH DOSSIER")
	if d.Complete {
		p.say("This dossier is complete: every child of the operation finished.")
	} else {
		p.say("THIS DOSSIER IS INCOMPLETE. What was verified is kept below, and what is missing is named.")
		unfinished(p, d.Slots)
	}
	p.blank()
	p.say("Question")
	p.words(d.Question)
	p.blank()
	if d.Route.LanguageModel {
		p.say("A language model wrote the claims. A verified quote proves that its source holds those words." +
			" It does not prove that a claim follows from them.")
	} else {
		p.say("No language model was used. A verified quote proves that its source holds those words, and" +
			" nothing more.")
	}
	p.blank()
	p.say("Lines behind six spaces are the words of a caller, a child or a host, and lines behind a bar are" +
		" words of a source. They are quoted and untrusted. All other lines are the dossier's own.")
	p.blank()
	p.item("Operation    %s", name(d.OperationID))
	p.item("Created      %s", name(d.CreatedAt))
	p.item("Deadline     %s", name(d.Deadline))
	p.item("Route        %s, deployment %s", name(d.Route.Name), name(d.Route.Deployment))
	p.item("Model        %s", name(d.Route.Model))
	p.item("Provider     %s %s, digest %s", name(d.Route.Provider), name(d.Route.ProviderVersion), short(d.Route.ProviderSHA256))
	p.item("Normalizer   %s", name(d.Normalizer))
	p.item("Learning     %s", learning(d.NoLearning))
}

func learning(none bool) string {
	if none {
		return "none: recorded with no_learning"
	}
	return "recorded without no_learning"
}

// unfinished says why a dossier is incomplete.
func unfinished(p *page, slots []wasm.DossierSlot) {
	said := false
	for _, s := range slots {
		if s.State == stateComplete {
			continue
		}
		said = true
		outcome(p, s)
	}
	if !said {
		p.item("Every child finished, but the operation did not.")
	}
}

// outcome says how a child ended, and why if it did not finish.
func outcome(p *page, s wasm.DossierSlot) {
	if s.State == stateComplete {
		p.item("Child %d finished.", s.Slot)
		return
	}
	if s.Reason == "" {
		p.item("Child %d did not finish: %s.", s.Slot, name(s.State))
	} else {
		p.item("Child %d did not finish: %s, reason %s.", s.Slot, name(s.State), name(s.Reason))
	}
	if s.Detail != "" {
		p.words(s.Detail)
	}
}

func perspective(p *page, places *wasm.Placement, s wasm.DossierSlot) {
	p.section(fmt.Sprintf("PERSPECTIVE %d", s.Slot))
	p.words(s.Perspective)
	outcome(p, s)
	adopted := 0
	for _, c := range s.Claims {
		if c.Adopted {
			adopted++
		}
	}
	p.blank()
	p.say("Adopted claims of perspective %d: %d", s.Slot, adopted)
	claims(p, places, s, true)
	if rest := len(s.Claims) - adopted; rest > 0 {
		p.blank()
		p.say("Claims of perspective %d that were NOT ADOPTED, because a quote is missing or not verified: %d", s.Slot, rest)
		claims(p, places, s, false)
	}
	if s.Uncertainty == "" && s.State != stateComplete {
		return
	}
	p.blank()
	if s.Uncertainty == "" {
		p.say("Uncertainty: child %d states none.", s.Slot)
		return
	}
	p.say("Uncertainty, as child %d states it", s.Slot)
	p.words(s.Uncertainty)
}

func claims(p *page, places *wasm.Placement, s wasm.DossierSlot, adopted bool) {
	for i, c := range s.Claims {
		if c.Adopted != adopted {
			continue
		}
		p.blank()
		place := wasm.ClaimPlace{Slot: s.Slot, Claim: i, FromLine: p.line()}
		number := fmt.Sprintf("%d.%d", s.Slot, i+1)
		if adopted {
			p.item("Claim %s", number)
		} else {
			p.item("Claim %s, NOT ADOPTED", number)
		}
		p.words(c.Text)
		for j, cite := range c.Citations {
			from := p.line()
			citation(p, fmt.Sprintf("%s.%d", number, j+1), cite)
			places.Citations = append(places.Citations, wasm.CitationPlace{
				Slot: s.Slot, Claim: i, Citation: j, FromLine: from, ToLine: p.count})
		}
		if len(c.Citations) == 0 {
			p.item("No quote was given.")
		}
		place.ToLine = p.count
		places.Claims = append(places.Claims, place)
	}
}

// citation writes one quote under its number.
func citation(p *page, number string, c wasm.Citation) {
	if c.Status == statusVerified {
		p.item("Quote %s, verified: %s, span %s", number, location(c), short(c.SpanSHA256))
		p.quote(c.Quote)
		return
	}
	p.item("Quote %s, NOT VERIFIED, %s: %s", number, name(c.Status), location(c))
	if c.Status != statusNear {
		p.quote(c.Quote)
		return
	}
	p.item("The child wrote:")
	p.quote(c.Quote)
	p.item("The source holds:")
	p.quote(c.SourceText)
}

// location is a source's name and the lines of a citation in it.
func location(c wasm.Citation) string {
	source := c.Name
	if source == "" {
		source = c.Source
	}
	switch {
	case source == "":
		return "no source"
	case c.FromLine < 1:
		return name(source)
	}
	return name(source) + " " + lineRange(c.FromLine, c.ToLine)
}

func lineRange(from, to int) string {
	if from == to {
		return fmt.Sprintf("line %d", from)
	}
	return fmt.Sprintf("lines %d-%d", from, to)
}

func contradictions(p *page, d wasm.Dossier) {
	p.section("CONTRADICTIONS AND CONFLICTS")
	p.say("Contradictions are listed as the children declared them. Conflicts are claims of different words" +
		" on the very same span, found by comparing bytes. No semantic detection is claimed: claims may" +
		" contradict each other without being listed.")
	declared := 0
	for _, s := range d.Slots {
		for i, c := range s.Contradictions {
			declared++
			p.blank()
			number := fmt.Sprintf("%d.%d", s.Slot, i+1)
			p.item("Contradiction %s, declared by child %d", number, s.Slot)
			p.words(c.Text)
			for j, cite := range c.Citations {
				citation(p, fmt.Sprintf("c%s.%d", number, j+1), cite)
			}
		}
	}
	for i, group := range d.Conflicts {
		p.blank()
		p.item("Conflict %d, on span %s", i+1, short(group.SpanSHA256))
		for _, ref := range group.Claims {
			p.item("  Claim %d.%d", ref.Slot, ref.Claim+1)
		}
	}
	if declared == 0 || len(d.Conflicts) == 0 {
		p.blank()
	}
	if declared == 0 {
		p.item("No child declared a contradiction.")
	}
	if len(d.Conflicts) == 0 {
		p.item("No two claims rest on the same span in different words.")
	}
}
