package wasm

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/writ-kernel/writ/abi/canon"
	abi "github.com/writ-kernel/writ/abi/wasm"
)

// AssembleResult is a plain text, where each claim and citation stands in it, and the receipt.
type AssembleResult struct {
	Text      []byte
	Placement abi.Placement
	Result
}

// Assemble runs an assembler over a dossier. Beyond what Call checks, the
// text is UTF-8 with LF line ends and no other control but TAB, and the placement has exactly one
// entry, on lines that exist, for every claim and every citation of a claim.
func Assemble(ctx context.Context, p *Pool, m Module, d abi.Dossier, limits Limits) (AssembleResult, error) {
	body, err := canon.Marshal(d)
	if err != nil {
		return AssembleResult{}, err
	}
	r, err := p.Call(ctx, m, Request{Op: abi.OpAssemble, MediaType: abi.MediaDossier, Body: body}, limits)
	if err != nil {
		return AssembleResult{}, err
	}
	a, err := checkAssembled(d, r)
	if err != nil {
		return AssembleResult{}, r.broken(m, err)
	}
	return a, nil
}

func checkAssembled(d abi.Dossier, r Result) (AssembleResult, error) {
	var h abi.AssembleHeader
	if err := json.Unmarshal(r.Header, &h); err != nil {
		return AssembleResult{}, err
	}
	text, placement, err := split(r.Body, h.TextBytes, h.PlacementBytes)
	if err != nil {
		return AssembleResult{}, err
	}
	if !utf8.Valid(text) {
		return AssembleResult{}, fmt.Errorf("text is not UTF-8")
	}
	if i := bytes.IndexFunc(text, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' }); i >= 0 {
		return AssembleResult{}, fmt.Errorf("control character at byte %d of the text", i)
	}
	a := AssembleResult{Text: text, Result: r}
	if err := canon.Unmarshal(placement, &a.Placement); err != nil {
		return AssembleResult{}, err
	}
	return a, checkPlacement(d, a.Placement, abi.Lines(text))
}

// place names a claim, or with citation 0 and up one of its citations.
type place struct{ slot, claim, citation int }

const wholeClaim = -1

func checkPlacement(d abi.Dossier, p abi.Placement, lines int) error {
	missing := map[place]bool{}
	for _, s := range d.Slots {
		for i, c := range s.Claims {
			missing[place{s.Slot, i, wholeClaim}] = true
			for j := range c.Citations {
				missing[place{s.Slot, i, j}] = true
			}
		}
	}
	take := func(at place, from, to int) error {
		if !missing[at] {
			return fmt.Errorf("placement of slot %d, claim %d, citation %d is unknown or twice", at.slot, at.claim, at.citation)
		}
		if from < 1 || to < from || to > lines {
			return fmt.Errorf("placement on lines %d to %d of %d", from, to, lines)
		}
		delete(missing, at)
		return nil
	}
	for _, c := range p.Claims {
		if err := take(place{c.Slot, c.Claim, wholeClaim}, c.FromLine, c.ToLine); err != nil {
			return err
		}
	}
	for _, c := range p.Citations {
		if c.Citation < 0 {
			return fmt.Errorf("placement of citation %d", c.Citation)
		}
		if err := take(place{c.Slot, c.Claim, c.Citation}, c.FromLine, c.ToLine); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%d claims or citations have no placement", len(missing))
	}
	return nil
}
