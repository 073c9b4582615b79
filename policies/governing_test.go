package policies

import (
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
)

const twoRoutes = `
routes:
  a: {deployment: d/a, plugin: p, model: m, local: true}
  b: {deployment: d/b, plugin: p, model: m, local: true}
`

func governing(t *testing.T, p *Policy, route string) Governing {
	t.Helper()
	g, err := p.Governing(route)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestOnlyWhatGovernsAnOperationMovesItsRevision(t *testing.T) {
	base := governing(t, parse(t, twoRoutes), "a").Revision()
	if !canon.IsDigest(base) {
		t.Fatalf("revision %q is no digest", base)
	}
	cases := map[string]struct {
		edit  func(*Policy)
		moves bool
	}{
		"another route":    {func(p *Policy) { r := p.Routes["b"]; r.Model = "n"; p.Routes["b"] = r }, false},
		"default route":    {func(p *Policy) { p.DefaultRoute = "b" }, false},
		"goal default":     {func(p *Policy) { p.Goal.Title = "x" }, false},
		"owner default":    {func(p *Policy) { p.Owner.Name = "x" }, false},
		"research ceiling": {func(p *Policy) { p.Research.Claims = 1 }, true},
		"ledger ceiling":   {func(p *Policy) { p.Ledger.OwnerDay = 1 }, true},
		"its route":        {func(p *Policy) { r := p.Routes["a"]; r.Model = "n"; p.Routes["a"] = r }, true},
		"its price":        {func(p *Policy) { r := p.Routes["a"]; r.Price.PerCall = 1; p.Routes["a"] = r }, true},
		"consent":          {func(p *Policy) { p.Consents.RemoteEgress = true }, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := parse(t, twoRoutes)
			c.edit(p)
			if moved := governing(t, p, "a").Revision() != base; moved != c.moves {
				t.Errorf("moved = %v", moved)
			}
		})
	}
}

func TestEqualRoutesUnderTwoNamesGovernDifferently(t *testing.T) {
	p := parse(t, twoRoutes)
	p.Routes["b"] = p.Routes["a"]
	if governing(t, p, "a").Revision() == governing(t, p, "b").Revision() {
		t.Error("the name of the route is not part of what governs")
	}
}

func TestARouteThatDoesNotExistGovernsNothing(t *testing.T) {
	if _, err := Default().Governing("elsewhere"); !reason.Is(err, writv1.Reason_REASON_NOT_FOUND) {
		t.Errorf("got %v", err)
	}
}

func TestARemoteRouteNeedsTheInstallationsConsent(t *testing.T) {
	const file = "routes: {far: {deployment: d, plugin: p, model: m}}\n"
	if _, err := parse(t, file).Governing("far"); !reason.Is(err, writv1.Reason_REASON_EGRESS_NOT_GRANTED) {
		t.Errorf("without consent: %v", err)
	}
	if _, err := parse(t, file+"consents: {remote_egress: true}\n").Governing("far"); err != nil {
		t.Errorf("with consent: %v", err)
	}
}
