package daemon

import (
	"context"
	"errors"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
	"github.com/writ-kernel/writ/abi/reason"
	abi "github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/host/provider"
	"github.com/writ-kernel/writ/host/runner"
	"github.com/writ-kernel/writ/host/wasm"
	"github.com/writ-kernel/writ/kernel/evidence"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/policies"
	"github.com/writ-kernel/writ/registry"
)

// kindModel is the registry's kind of provider adapters.
const kindModel = "model"

// plugins runs the plugins of this build, always by the digest that an operation pinned.
type plugins struct {
	registry   *registry.Registry
	pool       *wasm.Pool
	supervisor *provider.Supervisor
	adapters   map[string]string // name → digest that the supervisor runs
	limits     policies.PluginLimits
}

// newPlugins puts together what runs plugins.
func newPlugins(r *registry.Registry, pool *wasm.Pool, s *provider.Supervisor, adapters []registry.Plugin, limits policies.PluginLimits) *plugins {
	p := &plugins{registry: r, pool: pool, supervisor: s, limits: limits, adapters: make(map[string]string)}
	for _, a := range adapters {
		p.adapters[a.Manifest.Name] = a.SHA256
	}
	return p
}

// models loads every provider adapter of the build.
func models(r *registry.Registry) ([]registry.Plugin, error) {
	var adapters []registry.Plugin
	for _, entry := range r.List() {
		if entry.Kind != kindModel {
			continue
		}
		p, err := r.Load(entry.Kind, entry.Name)
		if err != nil {
			return nil, err
		}
		adapters = append(adapters, p)
	}
	return adapters, nil
}

// Pins resolves what a new operation on the route will run.
func (p *plugins) Pins(route policies.Route) (research.Pins, error) {
	var pins research.Pins
	for _, want := range []struct {
		kind, name string
		pin        *research.Pin
	}{
		{abi.KindReader, "text", &pins.TextReader},
		{abi.KindReader, "markdown", &pins.MarkdownReader},
		{abi.KindAssembler, "dossier.v1", &pins.Assembler},
		{kindModel, route.Plugin, &pins.Model},
	} {
		found, err := p.registry.Load(want.kind, want.name)
		if err != nil {
			return research.Pins{}, err
		}
		*want.pin = research.Pin{Name: want.name, Version: found.Manifest.Version, SHA256: found.SHA256}
	}
	return pins, nil
}

// pinned loads a plugin and refuses any other than the one that was pinned.
func (p *plugins) pinned(kind string, pin research.Pin) (registry.Plugin, error) {
	found, err := p.registry.Load(kind, pin.Name)
	if err != nil {
		return registry.Plugin{}, err
	}
	if found.SHA256 != pin.SHA256 {
		return registry.Plugin{}, notPinned(kind, pin, found.SHA256)
	}
	return found, nil
}

func notPinned(kind string, pin research.Pin, have string) error {
	return reason.New(writv1.Reason_REASON_PLUGIN_DIGEST,
		"the operation pinned %s %s with digest %s, this build has %q", kind, pin.Name, pin.SHA256, have).
		WithNext("run the Writ build that admitted the operation, or start a new one")
}

func (p *plugins) callLimits(body int) wasm.Limits {
	return wasm.Limits{
		Wall: time.Duration(p.limits.WallMilliseconds) * time.Millisecond, MemoryBytes: int64(p.limits.MemoryBytes),
		OutputBytes: int64(p.limits.OutputFactor)*int64(body) + int64(p.limits.OutputBaseBytes), LogBytes: int64(p.limits.LogBytes),
	}
}

// Normalize runs text.v1 over raw bytes.
func (p *plugins) Normalize(ctx context.Context, raw []byte) (text, rawMap []byte, moduleSHA256 string, err error) {
	module, err := p.registry.Load(abi.KindNormalizer, evidence.TextV1)
	if err != nil {
		return nil, nil, "", err
	}
	out, err := wasm.Normalize(ctx, p.pool, module, raw, p.callLimits(len(raw)))
	return out.Text, out.Map, module.SHA256, err
}

// Structure runs a pinned reader over a normalized text.
func (p *plugins) Structure(ctx context.Context, reader research.Pin, text []byte) ([]abi.Segment, error) {
	module, err := p.pinned(abi.KindReader, reader)
	if err != nil {
		return nil, err
	}
	out, err := wasm.Structure(ctx, p.pool, module, module.Manifest.MediaTypes[0], text, p.callLimits(len(text)))
	return out.Segments, err
}

// Assemble runs a pinned assembler over a manifest.
func (p *plugins) Assemble(ctx context.Context, assembler research.Pin, manifest []byte) ([]byte, error) {
	module, err := p.pinned(abi.KindAssembler, assembler)
	if err != nil {
		return nil, err
	}
	var dossier abi.Dossier
	if err := canon.Unmarshal(manifest, &dossier); err != nil {
		return nil, err
	}
	out, err := wasm.Assemble(ctx, p.pool, module, dossier, p.callLimits(len(manifest)))
	return out.Text, err
}

// adapter refuses any other adapter than the one that was pinned. The supervisor runs the very bytes
// that were vouched for when the node opened, so their digest is what counts, and not the file's.
func (p *plugins) adapter(pin research.Pin) error {
	if have := p.adapters[pin.Name]; have != pin.SHA256 {
		return notPinned(kindModel, pin, have)
	}
	return nil
}

// Describe asks a pinned adapter about one of its models.
func (p *plugins) Describe(ctx context.Context, adapter research.Pin, model string) (runner.ModelFacts, error) {
	if err := p.adapter(adapter); err != nil {
		return runner.ModelFacts{}, err
	}
	out, err := p.supervisor.Describe(ctx, adapter.Name, model)
	if err != nil {
		return runner.ModelFacts{}, err
	}
	for _, m := range out.Models {
		if m.Name == model {
			return runner.ModelFacts{Deterministic: m.Deterministic, LanguageModel: m.LanguageModel}, nil
		}
	}
	return runner.ModelFacts{}, reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "adapter %s has no model %q", adapter.Name, model)
}

// Generate makes the one call of a slot.
func (p *plugins) Generate(ctx context.Context, adapter research.Pin, call runner.Call) (runner.Answer, error) {
	if err := p.adapter(adapter); err != nil {
		return runner.Answer{}, errors.Join(runner.ErrNotSent, err)
	}
	out, err := p.supervisor.Generate(ctx, adapter.Name, &providerv1.GenerateRequest{
		Model: call.Model, Payload: call.Payload, CallId: call.ID,
		MaxOutputTokens: uint32(call.OutputTokens), MaxOutputBytes: uint32(call.OutputBytes),
	})
	switch {
	case errors.Is(err, provider.ErrNotSent):
		return runner.Answer{}, errors.Join(runner.ErrNotSent, err)
	case reason.Is(err, writv1.Reason_REASON_OUTPUT_TOO_LARGE) && out != nil:
		// The text is of no use, the charge counts all the same.
		return runner.Answer{Finish: runner.FinishOverflow, Charge: out.Charge}, nil
	case reason.Is(err, writv1.Reason_REASON_OUTPUT_INVALID) && out != nil:
		return runner.Answer{Finish: out.Finish, Charge: out.Charge}, nil
	case err != nil:
		return runner.Answer{}, err
	}
	return runner.Answer{Text: out.Text, Finish: out.Finish, Charge: out.Charge}, nil
}
