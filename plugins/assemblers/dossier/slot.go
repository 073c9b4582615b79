package main

import (
	"fmt"

	"github.com/writ-kernel/writ/abi/wasm"
)

// slot words what one slot found. Adopted claims come first and never mix with the others.
func slot(p *page, places *wasm.Placement, known known, s wasm.DossierSlot) {
	p.section(fmt.Sprintf("SLOT %d", s.Slot))
	p.say("Perspective")
	p.words(s.Perspective)
	outcome(p, s)
	_, adopted, rest := count([]wasm.DossierSlot{s})
	p.blank()
	p.say("Adopted claims of slot %d: %d", s.Slot, adopted)
	claims(p, places, known, s, true)
	if rest > 0 {
		p.blank()
		p.say("Not adopted, of slot %d: %d. A claim is adopted only when it has a quote and every quote of it is"+
			" verified.", s.Slot, rest)
		claims(p, places, known, s, false)
	}
	switch {
	case s.Uncertainty != "":
		p.blank()
		p.say("Uncertainty, as slot %d states it", s.Slot)
		p.words(s.Uncertainty)
	case s.State == stateComplete:
		p.blank()
		p.say("Uncertainty: slot %d states none.", s.Slot)
	}
}

func claims(p *page, places *wasm.Placement, known known, s wasm.DossierSlot, adopted bool) {
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
			citation(p, known, fmt.Sprintf("%s.%d", number, j+1), cite)
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

// citation writes one quote under its number. Only words that were found in a source stand behind
// the mark of a source's words.
func citation(p *page, known known, number string, c wasm.Citation) {
	if c.Status == statusVerified {
		p.item("Quote %s, verified%s: %s, span %s", number, role(c.Role), known.location(c), short(c.SpanSHA256))
		p.quote(quoteMark, c.Quote)
		return
	}
	p.item("Quote %s, NOT VERIFIED, %s%s: %s", number, name(c.Status), role(c.Role), known.location(c))
	if why := unverified[c.Status]; why != "" {
		p.item("%s", why)
	}
	p.quote(wordMark, c.Quote)
	if c.Status == statusNear {
		p.item("The source holds instead:")
		p.quote(quoteMark, c.SourceText)
	}
}

// unverified says what a status means.
var unverified = map[string]string{
	statusNear:    "The slot wrote words that differ from the source's in form:",
	"unobserved":  "The slot wrote words that the passage it names does not hold:",
	"changed":     "The slot wrote words of a source that has changed since:",
	"revoked":     "The slot wrote words of a source that may no longer be read:",
	"unavailable": "The slot wrote words of a source that cannot be read:",
	"redacted":    "The slot wrote words that are withheld:",
}

// role says when a quote's words are not a document's plain statement.
func role(r string) string {
	switch r {
	case "", wasm.RoleBody:
		return ""
	case wasm.RoleExample:
		return ", FROM AN EXAMPLE"
	case wasm.RoleQuoted:
		return ", FROM QUOTED WORDS"
	case wasm.RoleHidden:
		return ", FROM HIDDEN TEXT"
	case wasm.RoleFrontMatter:
		return ", FROM FRONT MATTER"
	}
	return ", ROLE " + name(r)
}

// known numbers the sources from 1 by their ID.
type known map[string]int

func numbered(sources []wasm.DossierSource) known {
	k := make(known, len(sources))
	for i, s := range sources {
		k[s.Source] = i + 1
	}
	return k
}

// title names a citation's source. Its number tells two sources of one name apart.
func (k known) title(c wasm.Citation) string {
	n, listed := k[c.Source]
	switch {
	case listed:
		return fmt.Sprintf("S%d %s", n, name(c.Name))
	case c.Name != "":
		return name(c.Name)
	case c.Source != "":
		return name(c.Source)
	}
	return "no source"
}

// location is a citation's source and lines.
func (k known) location(c wasm.Citation) string {
	if c.FromLine < 1 {
		return k.title(c)
	}
	return k.title(c) + " " + lineRange(c.FromLine, c.ToLine)
}

func lineRange(from, to int) string {
	if from == to {
		return fmt.Sprintf("line %d", from)
	}
	return fmt.Sprintf("lines %d-%d", from, to)
}
