package policies

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
)

// Policy is everything an installation may decide. Treat it as immutable once it is in use.
type Policy struct {
	Research     Research         `json:"research"`
	Routes       map[string]Route `json:"routes" validate:"min=1,max=64,dive,keys,name,endkeys"`
	DefaultRoute string           `json:"default_route" validate:"name"`
	Consents     Consents         `json:"consents"`
	Ledger       Ledger           `json:"ledger"`
	Goal         GoalDefaults     `json:"goal"`
	Owner        OwnerDefaults    `json:"owner"`
	Plugins      PluginLimits     `json:"plugins"`
}

// Consents are the installation's own permissions. They add to, and never replace, the egress
// consent that each source carries.
type Consents struct {
	// RemoteEgress allows routes that leave this machine. Off unless a file says otherwise.
	RemoteEgress bool `json:"remote_egress"`
}

// GoalDefaults describe the goal that first open creates. It never expires.
type GoalDefaults struct {
	Title string `json:"title" validate:"required,maxbytes=256,printable"`
	// Allowance is the goal's whole grant in micro-USD.
	Allowance int64 `json:"allowance" validate:"min=0,max=100000000"`
}

// OwnerDefaults describe the owner that first open creates.
type OwnerDefaults struct {
	// Name is bound to the uid that owns the data directory.
	Name string `json:"name" validate:"name"`
}

// PluginLimits bound one call of a WASM module, whatever its kind.
type PluginLimits struct {
	MemoryBytes      int `json:"memory_bytes" validate:"min=65536,max=67108864"`
	WallMilliseconds int `json:"wall_milliseconds" validate:"min=1,max=1000"`
	// Output may reach OutputFactor × input + OutputBaseBytes.
	OutputFactor    int `json:"output_factor" validate:"min=1,max=4"`
	OutputBaseBytes int `json:"output_base_bytes" validate:"min=1024,max=65536"`
	LogBytes        int `json:"log_bytes" validate:"min=0,max=4096"`
}

// Default returns a fresh policy that holds the hard ceilings and the built-in extractive route.
func Default() *Policy {
	return &Policy{
		Research:     defaultResearch(),
		Routes:       builtinRoutes(),
		DefaultRoute: ExtractiveRoute,
		Ledger:       defaultLedger(),
		Goal:         GoalDefaults{Title: "Default goal", Allowance: 100_000_000},
		Owner:        OwnerDefaults{Name: "local"},
		Plugins: PluginLimits{
			MemoryBytes:      64 << 20,
			WallMilliseconds: 1000,
			OutputFactor:     4,
			OutputBaseBytes:  64 << 10,
			LogBytes:         4 << 10,
		},
	}
}

// Validate checks every value against its minimum and its hard ceiling. It returns the first
// refusal as a *reason.Error with the field's path.
func (p *Policy) Validate() error {
	if err := check(p); err != nil {
		return err
	}
	if _, ok := p.Routes[p.DefaultRoute]; !ok {
		return reason.Field(writv1.Reason_REASON_NOT_FOUND, "default_route", "no route is named %q", p.DefaultRoute)
	}
	return nil
}

// Revision is the SHA-256 of the canonical resolved policy. A policy that is not valid may have no
// canonical form; its revision is then empty, which no valid policy's is.
func (p *Policy) Revision() string { return revision(p) }

func revision(v any) string {
	raw, err := canon.Marshal(v)
	if err != nil {
		return ""
	}
	return canon.Digest(raw)
}
