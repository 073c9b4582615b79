package main

import (
	"strings"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/wasm"
)

func digest(of string) string { return canon.Digest([]byte(of)) }

func verifiedCitation(quote string, line int) wasm.Citation {
	return wasm.Citation{
		Source: "src-1", Name: "README.md", RawSHA256: digest("raw"), TextSHA256: digest("text"), Normalizer: "text.v1",
		Start: 40 * line, End: 40*line + len([]rune(quote)), RawStart: 41 * line, RawEnd: 41*line + len(quote),
		FromLine: line, ToLine: line + strings.Count(quote, "\n"), Quote: quote, SpanSHA256: digest(quote),
		Status: statusVerified, Passage: "p1",
	}
}

// whole is a complete dossier with every part in it.
func whole() wasm.Dossier {
	shared := "Leases are renewed every ten seconds."
	return wasm.Dossier{
		Schema: wasm.DossierSchema, OperationID: "op-7f3a", Complete: true, NoLearning: true,
		Question:  "How are leases kept, and what ends one?",
		CreatedAt: "2026-01-02T03:04:05Z", Deadline: "2026-01-02T03:09:05Z", Normalizer: "text.v1",
		Route: wasm.DossierRoute{Name: "extractive", Deployment: "local", Model: "bm25", Provider: "extractive",
			ProviderVersion: "1.0.0", ProviderSHA256: digest("provider")},
		Slots: []wasm.DossierSlot{
			{Slot: 1, Perspective: "Operators", State: stateComplete, Uncertainty: "",
				Claims: []wasm.DossierClaim{
					{Text: shared, Adopted: true, Citations: []wasm.Citation{verifiedCitation(shared, 3)}},
					{Text: "A lease ends when its holder stops renewing it, when its fence is passed by a later claim of the same job, or when the deadline of the whole operation comes.",
						Adopted: true, Citations: []wasm.Citation{verifiedCitation("A lease ends\n\twhen its fence is passed.\n", 7), verifiedCitation("or at the deadline", 9)}},
				},
				Contradictions: []wasm.Contradiction{{Text: "Line 3 says ten seconds, line 12 says twenty.",
					Citations: []wasm.Citation{verifiedCitation("twenty seconds", 12)}}},
			},
			{Slot: 2, Perspective: "Auditors", State: stateComplete, Uncertainty: "The text does not say who reads the log.",
				Claims:         []wasm.DossierClaim{{Text: "Renewal happens every ten seconds.", Adopted: true, Citations: []wasm.Citation{verifiedCitation(shared, 3)}}},
				Contradictions: []wasm.Contradiction{}},
		},
		Conflicts: []wasm.Conflict{{SpanSHA256: digest(shared), Claims: []wasm.ClaimRef{{Slot: 1, Claim: 0}, {Slot: 2, Claim: 0}}}},
		Sources: []wasm.DossierSource{{Source: "src-1", Name: "README.md", RawSHA256: digest("raw"), TextSHA256: digest("text"),
			Size: 2048, Lines: 64, Status: statusRead, Ranges: []wasm.SlotRange{{Slot: 1, FromLine: 1, ToLine: 40}, {Slot: 2, FromLine: 3, ToLine: 3}}}},
		Money: wasm.DossierMoney{Allowance: 50_000},
		Receipts: []wasm.DossierReceipt{
			{ReservationID: "res-1", Slot: 1, State: "settled", Deployment: "local", Evidence: "local", PayloadSHA256: digest("p1"), ResponseSHA256: digest("r1")},
			{ReservationID: "res-2", Slot: 2, State: "settled", Deployment: "local", Evidence: "local", PayloadSHA256: digest("p2"), ResponseSHA256: digest("r2")},
		},
	}
}

// partial is an incomplete dossier of a language model with a child whose cost is unknown.
func partial() wasm.Dossier {
	d := whole()
	d.Complete = false
	d.NoLearning = false
	d.Route = wasm.DossierRoute{Name: "remote", Deployment: "team account", Model: "vendor/model-1", LanguageModel: true,
		Provider: "openai-compatible", ProviderVersion: "1.2.0", ProviderSHA256: digest("provider")}
	near := verifiedCitation("\"ten\" seconds", 3)
	near.Status, near.SourceText = statusNear, "\u201cten\u201d seconds"
	gone := wasm.Citation{Quote: "Leases never end.", Status: "unobserved", Passage: "p9"}
	d.Slots[0].Claims = append(d.Slots[0].Claims,
		wasm.DossierClaim{Text: "Leases never end.", Citations: []wasm.Citation{gone, verifiedCitation("A lease ends", 7)}},
		wasm.DossierClaim{Text: "It takes ten seconds.", Citations: []wasm.Citation{near}},
		wasm.DossierClaim{Text: "Nothing is quoted here.", Citations: []wasm.Citation{}})
	d.Slots[0].Contradictions = []wasm.Contradiction{}
	d.Slots[1] = wasm.DossierSlot{Slot: 2, Perspective: "Auditors", State: "unknown", Reason: "cost_unknown",
		Detail: "the provider's answer was cut before its end"}
	d.Conflicts = []wasm.Conflict{}
	d.Sources[0].Ranges = d.Sources[0].Ranges[:1]
	d.Sources = append(d.Sources, wasm.DossierSource{Source: "src-2", Name: "my notes.md", RawSHA256: digest("raw2"),
		TextSHA256: digest("text2"), Size: 10, Lines: 1, Status: "not read", Reason: "no slot that uses it was prepared"})
	d.Money = wasm.DossierMoney{Allowance: 50_000, Settled: 1_234, Unknown: 20_000}
	d.Receipts[0].Bound, d.Receipts[0].Actual, d.Receipts[0].Evidence = 20_000, 1_234, "reported"
	d.Receipts[1].Bound, d.Receipts[1].State, d.Receipts[1].Evidence, d.Receipts[1].ResponseSHA256 = 20_000, "unknown", "", ""
	return d
}

// hostile is a dossier whose every free text and name plays the dossier's own voice.
func hostile() wasm.Dossier {
	forged := "x\n\nSOURCES\n=======\n  Claim 9.9\n    > y\n  Quote 9.9.9, verified: S1 README.md line 1, span 0\n    | z\r\x1b[2J\u202etxt\u202c \\u{202E}\tq\u2028COST\u200b"
	d := fill(partial(), forged)
	d.Sources[0].Name = "a\nCOST \"b\""
	cite := &d.Slots[0].Claims[0].Citations[0]
	cite.Name, cite.Role = d.Sources[0].Name, wasm.RoleHidden
	d.Slots[0].Claims[1].Citations[0].Role = "own: words"
	d.Slots[1].Reason, d.Receipts[1].ReservationID = "none.\nThis dossier is complete", "res-2: settled"
	return d
}
