package main

import (
	"errors"
	"fmt"

	"github.com/writ-kernel/writ/abi/wasm"
)

const (
	stateComplete  = "complete"
	statusVerified = "verified"
	statusNear     = "near"
	statusRead     = "read"
	statusNotRead  = "not read"
)

// check holds a manifest to what the text will say of it. Its errors name the field and hold no
// words of the manifest.
func check(d wasm.Dossier) error {
	if d.Schema != wasm.DossierSchema {
		return fmt.Errorf("schema: not %s", wasm.DossierSchema)
	}
	if len(d.Slots) == 0 {
		return errors.New("slots: none")
	}
	claims := make(map[int]int, len(d.Slots))
	for i, s := range d.Slots {
		at := fmt.Sprintf("slots[%d]", i)
		if _, twice := claims[s.Slot]; twice || s.Slot < 1 {
			return fmt.Errorf("%s.slot: not a number of its own from 1", at)
		}
		claims[s.Slot] = len(s.Claims)
		if d.Complete && s.State != stateComplete {
			return fmt.Errorf("%s.state: a complete dossier has complete slots only", at)
		}
		for j, c := range s.Claims {
			if c.Adopted && !verified(c.Citations) {
				return fmt.Errorf("%s.claims[%d].adopted: an adopted claim has verified citations only", at, j)
			}
		}
	}
	for i, group := range d.Conflicts {
		for j, ref := range group.Claims {
			if n, ok := claims[ref.Slot]; !ok || ref.Claim < 0 || ref.Claim >= n {
				return fmt.Errorf("conflicts[%d].claims[%d]: no such claim", i, j)
			}
		}
	}
	return nil
}

// verified reports whether there are citations and every one is verified.
func verified(citations []wasm.Citation) bool {
	for _, c := range citations {
		if c.Status != statusVerified {
			return false
		}
	}
	return len(citations) > 0
}
