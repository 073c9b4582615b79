package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/api/writ/v1/writv1connect"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/provider"
	"github.com/writ-kernel/writ/host/provider/providertest"
	"github.com/writ-kernel/writ/host/runner"
	"github.com/writ-kernel/writ/host/workspace"
	"github.com/writ-kernel/writ/kernel/board"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
	"github.com/writ-kernel/writ/registry/registrytest"
)

// effects counts what a process does to the outside, and ends the process at one of them: from then
// on nothing it does has an effect. Each effect is two moments, before it and after it.
type effects struct {
	mu    sync.Mutex
	count int
	dieAt int // 0 never
	dead  chan struct{}
}

func newEffects(dieAt int) *effects { return &effects{dieAt: dieAt, dead: make(chan struct{})} }

// moment reports whether the process lives on.
func (e *effects) moment() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dieAt != 0 && e.count >= e.dieAt {
		return false
	}
	e.count++
	if e.count == e.dieAt {
		close(e.dead)
		return false
	}
	return true
}

func effect[T any](e *effects, do func() (T, error)) (T, error) {
	var zero T
	if !e.moment() {
		return zero, store.ErrClosed
	}
	out, err := do()
	if !e.moment() {
		return zero, store.ErrClosed
	}
	return out, err
}

type dyingStore struct {
	store.Store
	*effects
}

func (s dyingStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	wrote := false
	counted := func(tx store.Tx) error { return fn(&countingTx{tx, &wrote}) }
	// A transition that writes nothing is no effect; whether it will is known only afterwards.
	if s.dieAt != 0 {
		s.mu.Lock()
		dead := s.count >= s.dieAt
		s.mu.Unlock()
		if dead {
			return store.ErrClosed
		}
	}
	_, err := effectIf(s.effects, &wrote, func() (struct{}, error) { return struct{}{}, s.Store.Update(ctx, counted) })
	return err
}

// effectIf counts only the moment after, and only if the transition wrote.
func effectIf[T any](e *effects, wrote *bool, do func() (T, error)) (T, error) {
	out, err := do()
	if *wrote && !e.moment() {
		var zero T
		return zero, store.ErrClosed
	}
	return out, err
}

type countingTx struct {
	store.Tx
	wrote *bool
}

func (t *countingTx) Set(key, value []byte) error {
	*t.wrote = true
	return t.Tx.Set(key, value)
}

type dyingFiles struct {
	files
	*effects
}

func (f dyingFiles) Write(owner, promise string, data []byte, limit int) (string, error) {
	return effect(f.effects, func() (string, error) { return f.files.Write(owner, promise, data, limit) })
}

type dyingModels struct {
	*plugins
	*effects
}

func (m dyingModels) Generate(ctx context.Context, adapter research.Pin, call runner.Call) (runner.Answer, error) {
	return effect(m.effects, func() (runner.Answer, error) { return m.plugins.Generate(ctx, adapter, call) })
}

// machine is what survives a process: the data directory, and, to be quick, the plugin processes.
type machine struct {
	t       testing.TB
	dir     string
	policy  *policies.Policy
	plugins *plugins
}

// newMachine makes machines that share the plugins of one build.
func newMachines(t testing.TB, policy *policies.Policy, extra ...string) func(t testing.TB) *machine {
	t.Helper()
	vouched := registrytest.Open(t, extra...)
	adapters, err := models(vouched)
	if err != nil {
		t.Fatal(err)
	}
	supervisor, err := provider.Open(t.Context(), provider.Config{RunDir: filepath.Join(t.TempDir(), "run"), Adapters: adapters, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = supervisor.Close() })
	shared := newPlugins(vouched, pool(t), supervisor, adapters, policy.Plugins)
	return func(t testing.TB) *machine { return &machine{t: t, dir: t.TempDir(), policy: policy, plugins: shared} }
}

// process is one life of the real node on the machine's directory.
type process struct {
	*node
	client writv1connect.OperationsServiceClient
	source writv1connect.SourcesServiceClient
	server *httptest.Server
	stop   context.CancelFunc
}

func (m *machine) boot(e *effects) *process {
	m.t.Helper()
	return m.bootWith(e, func(*runner.Config) {})
}

// passive boots without driving jobs; Start does that later.
const passive = true

// workspace is the one that the booting node opened.
func (m *machine) workspace(c *runner.Config) *workspace.Workspace {
	return c.Files.(dyingFiles).workspace
}

func (m *machine) bootWith(e *effects, change func(*runner.Config), only ...bool) *process {
	m.t.Helper()
	n := &node{failed: make(chan error, 1), owner: m.policy.Owner.Name}
	err := n.openStore(m.t.Context(), m.dir, m.policy)
	// A parallel test that forks at this moment holds a copy of every descriptor until it executes, the
	// store's lock of the life before among them.
	for try := 0; reason.Is(err, writv1.Reason_REASON_STORE_HELD) && try < 1000; try++ {
		time.Sleep(10 * time.Millisecond)
		err = n.openStore(m.t.Context(), m.dir, m.policy)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if n.files, err = workspace.Open(filepath.Join(m.dir, artifactsDir)); err != nil {
		m.t.Fatal(err)
	}
	n.assemble(Options{Log: slog.New(slog.DiscardHandler)}, m.policy, m.plugins)
	c := n.runner.Config
	c.Store, c.Files, c.Models = dyingStore{n.store, e}, dyingFiles{files{n.files}, e}, dyingModels{m.plugins, e}
	change(&c)
	n.runner = runner.New(c)
	work, stop := context.WithCancel(context.Background())
	p := &process{node: n, stop: stop, server: httptest.NewServer(n.handler)}
	rpc := connect.NewClient(connecthttp.NewTransport(p.server.Client(), p.server.URL))
	p.client, p.source = writv1connect.NewOperationsServiceClient(rpc), writv1connect.NewSourcesServiceClient(rpc)
	if len(only) > 0 {
		return p
	}
	if err := n.Start(work); err != nil {
		m.t.Fatal(err)
	}
	return p
}

// kill ends a life. Goroutines end because nothing has an effect any more; the plugins belong to the
// machine.
func (p *process) kill(t testing.TB) {
	t.Helper()
	p.stop()
	p.server.CloseClientConnections()
	p.server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.runner.Drain(ctx); err != nil {
		t.Fatal("a killed process does not end:", err)
	}
	p.supervisor, p.pool = nil, nil
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// submit imports two documents and admits an operation of two slots on a route.
func (p *process) submit(t testing.TB, route string, allowance int64) string {
	t.Helper()
	return p.admit(t, "key", p.input(t, route, allowance))
}

func (p *process) input(t testing.TB, route string, allowance int64) *writv1.ResearchInput {
	t.Helper()
	imported, err := p.source.ImportSources(t.Context(), &writv1.ImportSourcesRequest{Items: []*writv1.ImportItem{
		{Name: "a.md", Content: []byte("# Leases\n\nA lease says who may act on a job. It expires after fifteen seconds.\n"), Read: true, Egress: true},
		{Name: "b.txt", Content: []byte("A fence grows at every claim.\nA stale fence is refused.\n"), Read: true, Egress: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	in := &writv1.ResearchInput{Question: "Who may act on a job with a lease and a fence?", Allowance: allowance, Route: route}
	for i, s := range imported.Sources {
		in.Slots = append(in.Slots, &writv1.ResearchSlot{Perspective: fmt.Sprintf("reader of leases %d", i), Sources: []*writv1.SourceUse{{
			SourceId: s.Source.SourceId, Sha256: s.Source.Sha256, FromLine: s.FromLine, ToLine: s.ToLine,
			ReadRevision: s.Source.Read.Revision, EgressRevision: s.Source.Egress.Revision,
		}}})
	}
	return in
}

func (p *process) admit(t testing.TB, key string, in *writv1.ResearchInput) string {
	t.Helper()
	admitted, err := p.client.AdmitOperation(t.Context(), &writv1.AdmitOperationRequest{
		IdempotencyKey: key, Input: &writv1.AdmitOperationRequest_Research{Research: in},
	})
	if err != nil {
		t.Fatal(err)
	}
	return admitted.Operation.OperationId
}

// testPatience is how long a test waits for something that is bound to happen.
const testPatience = 2 * time.Minute

// wait returns when the operation has ended or the process is dead.
func (p *process) wait(t testing.TB, e *effects, op string) (*writv1.Operation, bool) {
	t.Helper()
	deadline := time.After(testPatience)
	for {
		changed := p.store.Changed()
		got, err := p.client.GetOperation(t.Context(), &writv1.GetOperationRequest{OperationId: op})
		if err != nil {
			t.Fatal(err)
		}
		if board.Ended(got.Operation.State) {
			return got.Operation, true
		}
		select {
		case <-changed:
		case <-e.dead:
			return nil, false
		case <-deadline:
			t.Fatalf("operation stands still: %v", got.Operation)
		}
	}
}

// settledSums recomputes the operation's position from its rows.
func settledSums(t *testing.T, p *process, op string) {
	t.Helper()
	err := p.store.View(t.Context(), func(r store.Reader) error {
		rows, err := ledger.Of(r, op)
		if err != nil {
			return err
		}
		want := new(storev1.Sum)
		for _, row := range rows {
			switch ledger.StateName(row.State) {
			case "reserved":
				want.Reserved += row.Bound
			case "contacted":
				want.Contacted += row.Bound
			case "settled":
				want.Settled += row.Actual
			case "unknown":
				want.Unknown += row.Bound
			}
		}
		sum, err := ledger.Sum(r, op)
		if err == nil && (sum.Reserved != want.Reserved || sum.Contacted != want.Contacted || sum.Settled != want.Settled || sum.Unknown != want.Unknown) {
			err = fmt.Errorf("sum %v, rows give %v", sum, want)
		}
		if left, e := operation.Unfinished(r); err == nil && (e != nil || len(left) > 0) {
			err = fmt.Errorf("unfinished after the end: %v %v", left, e)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// everyCrash runs an operation once to count its moments, then once for each moment with the process
// killed there, and finishes each in the next life. check sees every end.
func everyCrash(t *testing.T, newMachine func(testing.TB) *machine, route string, allowance int64, check func(*testing.T, *writv1.Operation)) {
	whole := newEffects(0)
	m := newMachine(t)
	p := m.boot(whole)
	op := p.submit(t, route, allowance)
	ended, _ := p.wait(t, whole, op)
	p.kill(t)
	check(t, ended)
	if ended.State != writv1.OperationState_OPERATION_STATE_COMPLETE {
		t.Fatalf("without a crash: %s %s %s", ended.State, ended.Reason, ended.Detail)
	}
	for at := 1; at <= whole.count; at++ {
		t.Run(fmt.Sprintf("effect %d of %d", at, whole.count), func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			first, second := newEffects(at), newEffects(0)
			p := m.boot(first)
			op := p.submit(t, route, allowance)
			ended, alive := p.wait(t, first, op)
			p.kill(t)
			if !alive {
				p = m.boot(second)
				ended, _ = p.wait(t, second, op)
				settledSums(t, p, op)
				p.kill(t)
			}
			check(t, ended)
		})
	}
}

func TestACrashAtAnyEffectOfAFreeLocalModelIsFinishedByTheNextLife(t *testing.T) {
	everyCrash(t, newMachines(t, policies.Default()), "", 1000, func(t *testing.T, op *writv1.Operation) {
		if op.State != writv1.OperationState_OPERATION_STATE_COMPLETE {
			t.Fatalf("%s %s %s", op.State, op.Reason, op.Detail)
		}
		if claims := op.Research.Claims; len(claims) == 0 || claims[0].Citations[0].Status != "verified" {
			t.Fatalf("claims %v", claims)
		}
	})
}

// counting is a policy whose route leads a priced adapter to the far end.
func counting(farEnd *providertest.Server) *policies.Policy {
	p := policies.Default()
	p.Routes["counting"] = policies.Route{
		Deployment: "test/counting", Plugin: "counting", Model: farEnd.Model(), Local: true, LanguageModel: true,
		ReportsCharge: true, Price: policies.Price{PerCall: 5000},
	}
	return p
}

const countingAdapter = "model:counting=" + providertest.ImportPath

func TestACrashAtAnyEffectNeverContactsAPricedModelTwice(t *testing.T) {
	farEnd := providertest.NewServer(t, nil)
	var ends sync.Map
	everyCrash(t, newMachines(t, counting(farEnd), countingAdapter), "counting", 10_000, func(t *testing.T, op *writv1.Operation) {
		ends.Store(op.State, true)
		switch op.State {
		case writv1.OperationState_OPERATION_STATE_COMPLETE:
			if op.Money.Settled != 2000 || op.Money.Unknown+op.Money.Reserved+op.Money.Contacted != 0 {
				t.Fatalf("money %v", op.Money)
			}
		case writv1.OperationState_OPERATION_STATE_INCOMPLETE:
			// A call whose answer was lost holds its whole bound.
			if op.Reason != writv1.Reason_REASON_COST_UNKNOWN || op.Money.Unknown != 5000 {
				t.Fatalf("%s %s, money %v", op.Reason, op.Detail, op.Money)
			}
		default:
			t.Fatalf("%s %s %s", op.State, op.Reason, op.Detail)
		}
	})
	t.Cleanup(func() {
		for call, n := range farEnd.ByCall() {
			if n > 1 {
				t.Errorf("call %s reached the far end %d times", call, n)
			}
		}
		if _, ok := ends.Load(writv1.OperationState_OPERATION_STATE_INCOMPLETE); !ok {
			t.Error("no crash hit a call under way")
		}
	})
}
