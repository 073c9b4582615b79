package main

import (
	"strconv"
	"strings"

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
			p.item("  shown to child %d: %s", r.Slot, lineRange(r.FromLine, r.ToLine))
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
		{"Allowance", d.Money.Allowance, "what the operation may hold in all"},
		{"Reserved", d.Money.Reserved, "held for calls not yet made"},
		{"Contacted", d.Money.Contacted, "held for calls under way"},
		{"Settled", d.Money.Settled, "known to be spent"},
		{"Unknown", d.Money.Unknown, "held because a call's cost is not known"},
	}
	p.item("%-10s %20s %22s", "", "micro-USD", "USD")
	for _, r := range rows {
		p.item("%-10s %20d %22s  %s", r.label, r.micro, usd(r.micro), r.means)
	}
	p.say("Held bounds are not a billing cap: they are what was set aside before each call. The provider's" +
		" own account says what is billed.")
	p.blank()
	p.say("Receipts: %d", len(d.Receipts))
	for _, r := range d.Receipts {
		p.item("%s, child %d, deployment %s: %s", name(r.ReservationID), r.Slot, name(r.Deployment), name(r.State))
		p.item("  bound     %s", amount(r.Bound))
		if r.Evidence == "" {
			p.item("  actual    not known")
		} else {
			p.item("  actual    %s, evidence %s", amount(r.Actual), name(r.Evidence))
		}
		p.item("  payload   %s", name(r.PayloadSHA256))
		p.item("  response  %s", name(r.ResponseSHA256))
	}
}

// appendix has every digest in full, with the exact place of each quote.
func appendix(p *page, d wasm.Dossier) {
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
				span(p, numbered("Quote ", s.Slot, i+1, j+1), cite)
			}
		}
		for i, c := range s.Contradictions {
			for j, cite := range c.Citations {
				span(p, numbered("Quote c", s.Slot, i+1, j+1), cite)
			}
		}
	}
}

func numbered(label string, numbers ...int) string {
	var b strings.Builder
	b.WriteString(label)
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// span writes the exact place of a quote that was bound to one.
func span(p *page, label string, c wasm.Citation) {
	if c.SpanSHA256 == "" {
		p.item("%s  %s, bound to no span", label, name(c.Status))
		return
	}
	p.item("%s  %s, %s, code points %d-%d, bytes %d-%d", label, name(c.Status), name(c.Name), c.Start, c.End, c.RawStart, c.RawEnd)
	p.item("  span      %s", name(c.SpanSHA256))
}
