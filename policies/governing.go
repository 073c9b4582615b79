package policies

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// Governing is the part of a policy that governs one operation. Its revision is pinned at admission
// and compared at every boundary.
type Governing struct {
	Research  Research `json:"research"`
	RouteName string   `json:"route_name"`
	Route     Route    `json:"route"`
	Consents  Consents `json:"consents"`
	Ledger    Ledger   `json:"ledger"`
}

// Governing picks what governs an operation under the named route; the empty name means the default
// route. It fails with NOT_FOUND for a route that does not exist and with EGRESS_NOT_GRANTED for a
// remote route without the installation's consent.
func (p *Policy) Governing(route string) (Governing, error) {
	if route == "" {
		route = p.DefaultRoute
	}
	r, ok := p.Routes[route]
	if !ok {
		return Governing{}, reason.Field(writv1.Reason_REASON_NOT_FOUND, "route", "the policy has no route %.64q", route)
	}
	if !r.Local && !p.Consents.RemoteEgress {
		return Governing{}, reason.Field(writv1.Reason_REASON_EGRESS_NOT_GRANTED, "route",
			"route %q leaves this machine and the policy does not consent to that", route).
			WithNext("Set consents.remote_egress in the policy file, or choose a local route.")
	}
	return Governing{Research: p.Research, RouteName: route, Route: r, Consents: p.Consents, Ledger: p.Ledger}, nil
}

// Revision is the SHA-256 of the canonical form.
func (g Governing) Revision() string { return revision(g) }
