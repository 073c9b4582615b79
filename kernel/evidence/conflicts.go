package evidence

import (
	"cmp"
	"slices"

	"github.com/writ-kernel/writ/abi/wasm"
)

// Claim is attributed synthesis with its citations. Slot counts from 1, Index from 0 within it.
type Claim struct {
	Slot      int
	Index     int
	Text      string
	Citations []Citation
}

// Conflict groups claims that rest on the very same span and say different things.
type Conflict = wasm.Conflict

// Conflicts groups claims whose verified citations name the same source, version and code-point
// range although their texts differ. It compares bytes and finds no meaning: same words in two
// places stay two spans, and claims that agree word for word are no conflict. Groups come in the
// order of source and range, claims in the order of slot and index.
func Conflicts(claims []Claim) []Conflict {
	type key struct {
		source, text, span string
		start, end         int
	}
	groups := map[key][]int{}
	for i, c := range claims {
		for _, cite := range c.Citations {
			k := key{cite.Source, cite.TextSHA256, cite.SpanSHA256, cite.Start, cite.End}
			if cite.Status == StatusVerified && !slices.Contains(groups[k], i) {
				groups[k] = append(groups[k], i)
			}
		}
	}
	var keys []key
	for k, members := range groups {
		if slices.ContainsFunc(members, func(i int) bool { return claims[i].Text != claims[members[0]].Text }) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.text, b.text),
			cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.span, b.span))
	})
	out := []Conflict{}
	for _, k := range keys {
		refs := make([]wasm.ClaimRef, 0, len(groups[k]))
		for _, i := range groups[k] {
			refs = append(refs, wasm.ClaimRef{Slot: claims[i].Slot, Claim: claims[i].Index})
		}
		slices.SortFunc(refs, func(a, b wasm.ClaimRef) int {
			return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Claim, b.Claim))
		})
		out = append(out, Conflict{SpanSHA256: k.span, Claims: refs})
	}
	return out
}
