package main

import (
	"github.com/writ-kernel/writ/abi/wasm"
)

// assemble words a checked manifest.
func assemble(d wasm.Dossier) ([]byte, wasm.Placement) {
	p := &page{}
	places := wasm.Placement{Claims: []wasm.ClaimPlace{}, Citations: []wasm.CitationPlace{}}
	known := numbered(d.Sources)
	opening(p, d)
	for _, s := range d.Slots {
		slot(p, &places, known, s)
	}
	disagreements(p, known, d)
	sources(p, d)
	costs(p, d)
	appendix(p, known, d)
	return p.text.Bytes(), places
}

func opening(p *page, d wasm.Dossier) {
	finished, adopted, rest := count(d.Slots)
	p.section("RESEARCH DOSSIER")
	if d.Complete {
		p.say("This dossier is complete: every slot finished. Claims adopted: %d, not adopted: %d.", adopted, rest)
	} else {
		p.say("THIS DOSSIER IS INCOMPLETE. Slots finished: %d of %d. Claims adopted: %d, not adopted: %d. What was"+
			" verified is kept below.", finished, len(d.Slots), adopted, rest)
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
	p.say("Lines behind > are words of a caller, a slot or the host, and lines behind | are words of a source." +
		" Both are shown as they came and are untrusted. All other lines are the dossier's own.")
	p.blank()
	p.item("Operation    %s", name(d.OperationID))
	p.item("Created      %s", name(d.CreatedAt))
	p.item("Deadline     %s", name(d.Deadline))
	p.item("Route        %s, deployment %s", name(d.Route.Name), name(d.Route.Deployment))
	p.item("Model        %s", name(d.Route.Model))
	p.item("Provider     %s %s, digest %s", name(d.Route.Provider), name(d.Route.ProviderVersion), short(d.Route.ProviderSHA256))
	p.item("Normalizer   %s", name(d.Normalizer))
	if d.NoLearning {
		p.item("Learning     none: recorded with no_learning")
	} else {
		p.item("Learning     recorded without no_learning")
	}
}

func count(slots []wasm.DossierSlot) (finished, adopted, rest int) {
	for _, s := range slots {
		if s.State == stateComplete {
			finished++
		}
		for _, c := range s.Claims {
			if c.Adopted {
				adopted++
			} else {
				rest++
			}
		}
	}
	return finished, adopted, rest
}

// unfinished says why a dossier is incomplete.
func unfinished(p *page, slots []wasm.DossierSlot) {
	said := false
	for _, s := range slots {
		if s.State != stateComplete {
			outcome(p, s)
			said = true
		}
	}
	if !said {
		p.item("Every slot finished, but the operation did not.")
	}
}

// outcome says how a slot ended, and why if it did not finish.
func outcome(p *page, s wasm.DossierSlot) {
	switch {
	case s.State == stateComplete:
		p.item("Slot %d finished.", s.Slot)
		return
	case s.Reason == "":
		p.item("Slot %d did not finish: %s.", s.Slot, name(s.State))
	default:
		p.item("Slot %d did not finish: %s, reason %s.", s.Slot, name(s.State), name(s.Reason))
	}
	if s.Detail != "" {
		p.words(s.Detail)
	}
}
