package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/api"
	"github.com/writ-kernel/writ/host/provider"
	"github.com/writ-kernel/writ/host/runner"
	"github.com/writ-kernel/writ/host/wasm"
	"github.com/writ-kernel/writ/host/workspace"
	"github.com/writ-kernel/writ/kernel/grant"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/store/badger"
	"github.com/writ-kernel/writ/policies"
	"github.com/writ-kernel/writ/registry"
)

// Names inside a data directory.
const (
	storeDir     = "store"
	artifactsDir = "artifacts"
	cacheDir     = "cache"
	adaptersDir  = "adapters"
	policyFile   = "policy.yaml"
)

// Options are what a node needs beside its directory.
type Options struct {
	// Plugins holds the digest lock and the plugins of this build.
	Plugins fs.FS
	// Log gets what the node does, never source text or a secret.
	Log *slog.Logger
	// Parallel is how many jobs run at once; 0 means 4.
	Parallel int
}

// node is everything that a data directory contains, assembled.
type node struct {
	store      *store.Committer
	runner     *runner.Runner
	supervisor *provider.Supervisor
	pool       *wasm.Pool
	files      *workspace.Workspace
	handler    http.Handler
	failed     chan error
	owner      string
}

// OpenNode opens the store below dir, creating it the first time, and assembles the kernel, the
// plugins of this build and the API over it. The directory is locked and checked by then.
func OpenNode(ctx context.Context, dir string, o Options) (_ Node, err error) {
	policy, err := readPolicy(dir)
	if err != nil {
		return nil, err
	}
	n := &node{failed: make(chan error, 1), owner: policy.Owner.Name}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	vouched, err := registry.Open(o.Plugins)
	if err != nil {
		return nil, err
	}
	if err := n.openStore(ctx, dir, policy); err != nil {
		return nil, err
	}
	if n.files, err = workspace.Open(filepath.Join(dir, artifactsDir)); err != nil {
		return nil, err
	}
	n.pool = wasm.NewPool(wasm.Config{CacheDir: filepath.Join(dir, cacheDir)})
	adapters, err := models(vouched)
	if err != nil {
		return nil, err
	}
	n.supervisor, err = provider.Open(ctx, provider.Config{RunDir: filepath.Join(dir, adaptersDir), Adapters: adapters, Logger: o.Log})
	if err != nil {
		return nil, err
	}
	n.assemble(o, policy, newPlugins(vouched, n.pool, n.supervisor, adapters, policy.Plugins))
	return n, nil
}

// assemble connects what was opened.
func (n *node) assemble(o Options, policy *policies.Policy, p *plugins) {
	jobs, guard := operation.New(research.Definition())
	capability := research.New(jobs, guard, ledger.New(guard))
	host, _ := os.Hostname()
	n.runner = runner.New(runner.Config{
		Store: n.store, Jobs: jobs, Research: capability, Policy: policy, Modules: p, Models: p, Files: files{n.files},
		Holder: fmt.Sprintf("%s/%d", host, os.Getpid()), Parallel: cmp.Or(o.Parallel, 4), Log: o.Log,
	})
	n.handler = api.Handler(api.Config{
		Store: n.store, Jobs: jobs, Policy: policy, Files: files{n.files}, Normalizer: p, Plugins: p, Owner: n.owner, Log: o.Log,
	})
}

func (n *node) openStore(ctx context.Context, dir string, policy *policies.Policy) error {
	engine, err := badger.Open(filepath.Join(dir, storeDir))
	if err != nil {
		return err
	}
	n.store, err = store.Open(engine, NewSystemClock(), store.OnPoison(func(cause error) { n.failed <- cause }))
	if err != nil {
		return errors.Join(err, engine.Close())
	}
	genesis := grant.Genesis{StoreID: random(), LeafKey: random(), UID: uint32(os.Geteuid()), Policy: policy}
	return n.store.Update(ctx, func(tx store.Tx) error {
		if err := grant.Open(tx, genesis); err != nil {
			return err
		}
		return operation.Boot(tx)
	})
}

// random is 32 bytes from the system; crypto/rand.Read never fails.
func random() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b)
	return b
}

// readPolicy is the directory's policy file, or the defaults when there is none.
func readPolicy(dir string) (*policies.Policy, error) {
	refuse := func(format string, args ...any) error {
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, policyFile, format, args...)
	}
	// A link, a pipe or a device must neither be followed nor waited for.
	f, err := os.OpenFile(filepath.Join(dir, policyFile), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return policies.Default(), nil
	}
	if err != nil {
		return nil, refuse("cannot be opened as a file of its own: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, refuse("is not a regular file")
	}
	raw, err := io.ReadAll(io.LimitReader(f, policies.MaxFileBytes+1))
	if err != nil {
		return nil, refuse("cannot be read: %w", err)
	}
	policy, err := policies.Parse(raw)
	if typed, ok := reason.As(err); ok {
		typed.Field = strings.TrimSuffix(policyFile+": "+typed.Field, ": ")
	}
	return policy, err
}

// Handler serves the operator API.
func (n *node) Handler() http.Handler { return n.handler }

// Start begins to drive unfinished work.
func (n *node) Start(ctx context.Context) error {
	n.runner.Start(ctx)
	return nil
}

// Drain lets running jobs reach a durable boundary and names the operations that are not finished.
func (n *node) Drain(ctx context.Context) ([]string, error) {
	err := n.runner.Drain(ctx)
	pending, readErr := store.Read(context.WithoutCancel(ctx), n.store, operation.Unfinished)
	return pending, errors.Join(err, readErr)
}

// Failed delivers the loss of the store.
func (n *node) Failed() <-chan error { return n.failed }

// Close releases everything that was opened, last opened first.
func (n *node) Close() error {
	var errs []error
	if n.supervisor != nil {
		errs = append(errs, n.supervisor.Close())
	}
	if n.pool != nil {
		n.pool.Close()
	}
	if n.files != nil {
		errs = append(errs, n.files.Close())
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	return errors.Join(errs...)
}
