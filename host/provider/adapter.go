package provider

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	abi "github.com/writ-kernel/writ/abi/provider"
	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/registry"
)

const (
	maxFailures = 5 // in a row; then the adapter is disabled until the host starts again
	maxBackOff  = 5 * time.Second
)

// adapter is one adapter over its whole life: at most one process, replaced when it fails.
// Everything below turn belongs to whoever holds the turn.
type adapter struct {
	plugin  registry.Plugin
	runDir  string
	log     *slog.Logger
	start   time.Duration
	backOff time.Duration
	closing context.Context

	turn      chan struct{}
	binary    *binary
	process   *process
	failures  int
	notBefore time.Time
	disabled  error
}

// call makes one RPC under one deadline. The process does not outlive a call that it did not
// answer: nothing else is known to stop the work in it.
func (a *adapter) call(ctx context.Context, rpc func(context.Context, *abi.LocalModelClient) error) error {
	ctx, cancel := context.WithTimeout(ctx, MaxCall)
	defer cancel()
	defer context.AfterFunc(a.closing, cancel)()
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return notSent(interrupted(ctx))
	}
	// Whoever takes the turn after Close had it must start nothing.
	if ctx.Err() != nil || a.closing.Err() != nil {
		cancel()
		return notSent(interrupted(ctx))
	}
	p, err := a.ready(ctx)
	if err != nil {
		return notSent(err)
	}
	during, end := p.during(ctx)
	defer end()
	err = rpc(during, p.client)
	switch {
	case err == nil:
		a.failures = 0
		return nil
	case ctx.Err() != nil || status.Code(err) == codes.DeadlineExceeded:
		// The deadline travels with the call, and the adapter's end of it may notice first.
		err = interrupted(ctx)
		a.stop()
		if reason.Is(err, writv1.Reason_REASON_DEADLINE_EXCEEDED) {
			a.failed(err)
		}
		return err
	case during.Err() != nil || status.Code(err) == codes.Unavailable:
		err = reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "the adapter ended in the middle of a call")
		a.stop()
		a.failed(err)
		return err
	}
	a.log.Debug("call refused", "status", quoted(err.Error()))
	return refused(err)
}

// ready returns a running, verified process, starting one if need be.
func (a *adapter) ready(ctx context.Context) (*process, error) {
	if a.process != nil && a.process.ended() {
		a.stop()
		a.failed(reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "the adapter ended between calls"))
	}
	if a.disabled != nil {
		return nil, reason.New(reason.CodeOf(a.disabled), "adapter %s is disabled: %w", a.plugin.Manifest.Name, a.disabled).
			WithNext("Look at the adapter's diagnostics in the log, then restart the host.")
	}
	if a.process != nil {
		return a.process, nil
	}
	pause := time.NewTimer(time.Until(a.notBefore))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return nil, interrupted(ctx)
	}
	p, err := a.launch(ctx)
	if err == nil {
		a.process = p
		return p, nil
	}
	if ctx.Err() != nil {
		err = interrupted(ctx)
	}
	if !reason.Is(err, writv1.Reason_REASON_CANCELLED) {
		a.failed(err)
	}
	return nil, err
}

func (a *adapter) launch(ctx context.Context) (*process, error) {
	if a.binary == nil {
		b, err := writeBinary(a.runDir, a.plugin)
		if err != nil {
			return nil, err
		}
		a.binary, a.plugin.Bytes = b, nil // the file is hashed again at every start
	}
	ctx, cancel := context.WithTimeout(ctx, a.start)
	defer cancel()
	p, err := startProcess(ctx, a.binary, a.start, a.log)
	if err == nil {
		if err = a.check(ctx, p); err != nil {
			p.stop()
		}
	}
	if err != nil && ctx.Err() != nil {
		return nil, reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "the adapter was not ready within %v", a.start)
	}
	if err != nil {
		return nil, err
	}
	a.log.Debug("adapter started", "pid", p.run.ID(), "sha256", a.plugin.SHA256)
	return p, nil
}

// check compares what the adapter says of itself with what was vouched for.
func (a *adapter) check(ctx context.Context, p *process) error {
	during, end := p.during(ctx)
	defer end()
	info, err := p.client.Info(during, &providerv1.InfoRequest{HostAbi: abi.ABI})
	if err != nil {
		return reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "the adapter does not say what it is: %s", status.Code(err))
	}
	want := a.plugin.Manifest
	for _, c := range []struct{ what, want, got string }{
		{"ABI", abi.ABI, info.GetAbi()},
		{"name", want.Name, info.GetName()},
		{"version", want.Version, info.GetVersion()},
	} {
		if c.want != c.got {
			return permanent{reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "%s: expected %s, the adapter says %s",
				c.what, c.want, quoted(c.got)).WithNext("Run `make build` to build the host and its adapters together.")}
		}
	}
	if !slices.Contains(info.GetKinds(), abi.KindLocalModel) {
		return permanent{reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "the adapter serves no %s", abi.KindLocalModel)}
	}
	return nil
}

// failed counts a failure; the next start waits, and after too many in a row there is none.
func (a *adapter) failed(err error) {
	a.failures++
	if permanent := new(permanent); errors.As(err, permanent) || reason.Is(err, writv1.Reason_REASON_PLUGIN_DIGEST) || a.failures >= maxFailures {
		a.disabled = err
		a.log.Error("adapter disabled", "failures", a.failures, "reason", err)
		return
	}
	pause := min(a.backOff<<(a.failures-1), maxBackOff)
	a.notBefore = time.Now().Add(pause)
	a.log.Warn("adapter failed", "failures", a.failures, "reason", err, "pause", pause)
}

func (a *adapter) stop() {
	if a.process != nil {
		a.process.stop()
		a.process = nil
	}
}

// shut ends the adapter for good.
func (a *adapter) shut() error {
	a.stop()
	if a.binary == nil {
		return nil
	}
	return os.RemoveAll(a.binary.dir)
}
