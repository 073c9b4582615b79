package evidence

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/writ-kernel/writ/abi/wasm"
)

func TestClaimIsAdoptedOnlyWithAllCitationsVerified(t *testing.T) {
	of := func(statuses ...string) (out []Citation) {
		for _, s := range statuses {
			out = append(out, Citation{Status: s})
		}
		return out
	}
	for _, c := range []struct {
		citations []Citation
		want      bool
	}{
		{nil, false},
		{of(StatusVerified), true},
		{of(StatusVerified, StatusVerified), true},
		{of(StatusVerified, StatusNear), false},
		{of(StatusNear), false},
		{of(StatusUnobserved, StatusVerified), false},
		{of(StatusChanged), false}, {of(StatusRevoked), false}, {of(StatusUnavailable), false}, {of(StatusRedacted), false},
		{of(""), false}, {of("Verified"), false},
	} {
		if got := Adopted(c.citations); got != c.want {
			t.Errorf("%+v adopted: %v", c.citations, got)
		}
	}
}

func TestConflictsAreSameSpansUnderDifferentWords(t *testing.T) {
	cite := func(source string, start, end int, span string) Citation {
		return Citation{Source: source, TextSHA256: "t", Start: start, End: end, SpanSHA256: span, Status: StatusVerified}
	}
	a, again, b := cite("s1", 0, 5, "aa"), cite("s1", 9, 14, "aa"), cite("s2", 0, 5, "aa")
	near := a
	near.Status = StatusNear
	newer := a
	newer.TextSHA256 = "t2"
	claims := []Claim{
		{1, 0, "it is so", []Citation{a}},
		{1, 1, "it is so", []Citation{again}},
		{1, 2, "cited twice", []Citation{b, b}},
		{2, 0, "it is not so", []Citation{a}},
		{2, 1, "it is so", []Citation{a, b}},
		{2, 2, "only near", []Citation{near}},
		{2, 3, "another version", []Citation{newer}},
	}
	want := []Conflict{
		{SpanSHA256: "aa", Claims: refs([2]int{1, 0}, [2]int{2, 0}, [2]int{2, 1})},
		{SpanSHA256: "aa", Claims: refs([2]int{1, 2}, [2]int{2, 1})},
	}
	for seed := range uint64(50) { // the order of the input says nothing
		if got := Conflicts(claims); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got  %+v\nwant %+v", seed, got, want)
		}
		r := rand.New(rand.NewPCG(seed, 5))
		r.Shuffle(len(claims), func(i, j int) { claims[i], claims[j] = claims[j], claims[i] })
	}
	if got := Conflicts(claims[:0]); got == nil || len(got) != 0 {
		t.Errorf("no claims: %#v", got)
	}
}

func refs(at ...[2]int) (out []wasm.ClaimRef) {
	for _, a := range at {
		out = append(out, wasm.ClaimRef{Slot: a[0], Claim: a[1]})
	}
	return out
}
