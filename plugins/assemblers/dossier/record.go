package main

import (
	"fmt"

	"github.com/writ-kernel/writ/abi/wasm"
)

// This file words what stands behind the claims: sources, money, receipts and digests.

func sources(p *page, d wasm.Dossier) {
	p.section("SOURCES")
	read := 0
	for _, s := range d.Sources {
		if s.Status == statusRead {
			read++
		}
	}
	p.say("Sources read: %d", read)
	for i, s := range d.Sources {
		if s.Status != statusRead {
			continue
		}
		p.item("S%d  %s, %d bytes, %d lines, digest %s", i+1, name(s.Name), s.Size, s.Lines, short(s.RawSHA256))
		for _, r := range s.Ranges {
			p.item("  shown to slot %d: %s", r.Slot, lineRange(r.FromLine, r.ToLine))
		}
	}
	if read == len(d.Sources) {
		return
	}
	p.blank()
	p.say("Sources NOT read: %d", len(d.Sources)-read)
	for i, s := range d.Sources {
		if s.Status == statusRead {
			continue
		}
		p.item("S%d  %s, digest %s", i+1, name(s.Name), short(s.RawSHA256))
		if s.Status != statusNotRead {
			p.item("  status    %s", name(s.Status))
		}
		if s.Reason != "" {
			p.words(s.Reason)
		}
	}
}

func costs(p *page, d wasm.Dossier) {
	p.section("COST")
	rows := []struct {
		label string
		micro int64
		means string
	}{
		{"Allowance", d.Money.Allowance, "the most the operation may hold"},
		{"Reserved", d.Money.Reserved, "held for calls not yet made"},
		{"Contacted", d.Money.Contacted, "held for calls under way"},
		{"Settled", d.Money.Settled, "known to be spent"},
		{"Unknown", d.Money.Unknown, "held because a call's cost is not known"},
	}
	p.item("%-10s %16s %18s", "", "micro-USD", "USD")
	for _, r := range rows {
		p.item("%-10s %16d %18s  %s", r.label, r.micro, usd(r.micro), r.means)
	}
	p.blank()
	p.say("Held bounds are not a billing cap: they were set aside before each call. What is billed stands in the" +
		" provider's own account.")
	p.blank()
	p.say("Receipts: %d", len(d.Receipts))
	for _, r := range d.Receipts {
		p.item("%s, slot %d, deployment %s: %s", name(r.ReservationID), r.Slot, name(r.Deployment), name(r.State))
		p.item("  bound     %s", amount(r.Bound))
		p.item("  actual    %s", actual(r))
		p.item("  payload   %s", name(r.PayloadSHA256))
		p.item("  response  %s", name(r.ResponseSHA256))
	}
}

// actual is what a call cost and how that is known.
func actual(r wasm.DossierReceipt) string {
	if r.Evidence != "" {
		return amount(r.Actual) + ", evidence " + name(r.Evidence)
	}
	switch r.State {
	case "reserved", "released":
		return "none: never contacted"
	}
	return "not known"
}

// appendix has every digest in full, with the exact place of each quote.
func appendix(p *page, known known, d wasm.Dossier) {
	p.section("APPENDIX: DIGESTS")
	p.say("SHA-256 in lower-case hex. Offsets are code points of the normalized text and bytes of the source," +
		" from 0, the end not included.")
	p.blank()
	p.item("Provider %s", name(d.Route.Provider))
	p.item("  binary    %s", name(d.Route.ProviderSHA256))
	for i, s := range d.Sources {
		p.item("S%d  %s, source %s", i+1, name(s.Name), name(s.Source))
		p.item("  raw       %s", name(s.RawSHA256))
		p.item("  text      %s", name(s.TextSHA256))
	}
	for _, s := range d.Slots {
		for i, c := range s.Claims {
			for j, cite := range c.Citations {
				span(p, known, fmt.Sprintf("%d.%d.%d", s.Slot, i+1, j+1), cite)
			}
		}
		for i, c := range s.Contradictions {
			for j, cite := range c.Citations {
				span(p, known, fmt.Sprintf("c%d.%d.%d", s.Slot, i+1, j+1), cite)
			}
		}
	}
}

// span writes the exact place of a quote that was bound to one.
func span(p *page, known known, number string, c wasm.Citation) {
	if c.SpanSHA256 == "" {
		p.item("Quote %s  %s, bound to no span", number, name(c.Status))
		return
	}
	p.item("Quote %s  %s, %s, code points %d-%d, bytes %d-%d", number, name(c.Status), known.title(c), c.Start, c.End, c.RawStart, c.RawEnd)
	p.item("  span      %s", name(c.SpanSHA256))
}
