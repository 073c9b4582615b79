package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/registry"
)

// Module is a vouched-for module: its bytes, their digest, and what it says about itself.
type Module = registry.Plugin

// Config sets up a Pool.
type Config struct {
	// Workers is how many calls run at once; 0 means one per CPU, at most four. A worker is started
	// when a call first needs it.
	Workers int
	// CacheDir keeps compiled modules from one process to the next; empty keeps none. It belongs to
	// this user alone.
	CacheDir string
	// Executable is the program whose main calls WorkerMain; empty means this one.
	Executable string
	// CompileWall bounds loading one module into one worker; 0 means two minutes.
	CompileWall time.Duration
}

// Request is one call. Kind comes from the module's manifest.
type Request struct {
	Op        string
	MediaType string
	Body      []byte
}

// Result is an answer and the receipt of the call.
type Result struct {
	Header       []byte // one line of canonical JSON, without its LF
	Body         []byte
	Log          string // escaped
	Wall         time.Duration
	PeakMemory   int64 // bytes of linear memory
	ModuleSHA256 string
	Engine       string
}

// Pool is a bounded set of workers. It is safe for concurrent use.
type Pool struct {
	config   Config
	slots    chan struct{}
	launcher *launcher
	closing  context.Context
	close    context.CancelFunc
	mu       sync.Mutex
	idle     []*process // the one used last is at the end and used first
	all      map[*process]struct{}
	calls    sync.WaitGroup
}

// NewPool makes a pool. It starts nothing but one goroutine; Close ends it.
func NewPool(c Config) *Pool {
	if c.Workers <= 0 {
		c.Workers = min(runtime.NumCPU(), 4)
	}
	if c.CompileWall <= 0 {
		c.CompileWall = 2 * time.Minute
	}
	p := &Pool{config: c, slots: make(chan struct{}, c.Workers), launcher: newLauncher(), all: map[*process]struct{}{}}
	p.closing, p.close = context.WithCancel(context.Background())
	return p
}

// Close kills every worker, ends running calls and returns when all processes are reaped.
func (p *Pool) Close() {
	p.mu.Lock()
	p.close()
	p.mu.Unlock()
	p.calls.Wait()
	p.mu.Lock()
	workers := p.all
	p.all, p.idle = nil, nil
	p.mu.Unlock()
	if workers == nil {
		return
	}
	for w := range workers {
		w.kill()
	}
	for w := range workers {
		<-w.done
	}
	p.launcher.close()
}

// Call runs one request in a fresh instance. Errors: a Fault or a GuestError within REASON_PLUGIN_FAILED;
// REASON_TOO_LARGE for a body over MaxInput; REASON_CANCELLED or REASON_DEADLINE_EXCEEDED when ctx
// ends, which kills the worker. With a GuestError the Result still holds the receipt and the log.
func (p *Pool) Call(ctx context.Context, m Module, req Request, limits Limits) (Result, error) {
	if len(req.Body) > MaxInput {
		return Result{}, reason.New(writv1.Reason_REASON_TOO_LARGE, "%d bytes for a module, at most %d", len(req.Body), MaxInput)
	}
	limits = limits.withDefaults(len(req.Body))
	header, err := requestHeader(m.Manifest.Kind, req, limits)
	if err != nil {
		return Result{}, err
	}
	p.mu.Lock()
	if p.closing.Err() != nil {
		p.mu.Unlock()
		return Result{}, contextError(p.closing)
	}
	p.calls.Add(1)
	p.mu.Unlock()
	defer p.calls.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.closing, cancel)()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return Result{}, contextError(ctx)
	}
	result, err := p.onWorker(ctx, m, limits, header, req.Body)
	if ctx.Err() != nil && err != nil {
		return Result{}, contextError(ctx)
	}
	if err != nil {
		return Result{}, failed(err)
	}
	return checkAnswer(m, req, result)
}

func (p *Pool) onWorker(ctx context.Context, m Module, limits Limits, header, body []byte) (answered, error) {
	w, err := p.take()
	if err != nil {
		return answered{}, &Fault{Kind: FaultCrash, Module: nameOf(m), Detail: "no worker: " + err.Error()}
	}
	stop := context.AfterFunc(ctx, w.kill)
	a, err := p.exchange(w, m, limits, header, body)
	fault, ok := errors.AsType[*Fault](err)
	unharmed := err == nil || ok && fault.Kind == FaultRefused
	if stop() && unharmed {
		p.put(w)
	} else {
		p.discard(w)
	}
	return a, err
}

// answered is what came back from a worker, bounded but not yet believed.
type answered struct {
	meta   answerMeta
	log    string
	output []byte
	wall   time.Duration
	engine string
}

func (p *Pool) exchange(w *process, m Module, limits Limits, header, body []byte) (answered, error) {
	fault := func(kind FaultKind, detail, log string) (answered, error) {
		return answered{}, &Fault{Kind: kind, Module: nameOf(m), Detail: escape([]byte(detail)), Log: log}
	}
	if !w.loaded[m.SHA256] {
		var loaded loadedMeta
		payload, err := w.ask(p.config.CompileWall, frameLoaded, maxMeta, frameModule, moduleMeta{m.SHA256}, m.Bytes)
		if err == nil {
			err = unmarshalExact(payload, &loaded)
		}
		if err != nil {
			kind, detail := w.explain(err)
			return fault(kind, "loading: "+detail, "")
		}
		if loaded.Refused != "" {
			return fault(FaultRefused, loaded.Refused, "")
		}
		w.loaded[m.SHA256], w.engine = true, loaded.Engine
	}
	begin := time.Now()
	call := callMeta{m.SHA256, limits.MemoryBytes, limits.OutputBytes, limits.LogBytes}
	payload, err := w.ask(limits.Wall, frameAnswer, maxMeta+limits.LogBytes+limits.OutputBytes, frameCall, call, header, body)
	if err != nil {
		kind, detail := w.explain(err)
		return fault(kind, detail, "")
	}
	a := answered{wall: time.Since(begin), engine: w.engine}
	rest, err := splitPayload(payload, &a.meta)
	if err != nil {
		return fault(FaultFrame, err.Error(), "")
	}
	logBytes, outputBytes := int64(a.meta.LogBytes), int64(a.meta.OutputBytes)
	if logBytes < 0 || logBytes > limits.LogBytes || outputBytes < 0 || outputBytes > limits.OutputBytes || logBytes+outputBytes != int64(len(rest)) {
		return fault(FaultFrame, "sizes of log and output do not add up", "")
	}
	a.log, a.output = escape(rest[:logBytes]), rest[logBytes:]
	if a.meta.Fault != "" {
		return fault(a.meta.Fault, a.meta.Detail, a.log)
	}
	return a, nil
}

// ask sends one frame and reads its answer, both within wall.
func (w *process) ask(wall time.Duration, want byte, limit int64, kind byte, meta any, parts ...[]byte) ([]byte, error) {
	if err := w.conn.SetDeadline(time.Now().Add(wall)); err != nil {
		return nil, err
	}
	if err := writeFrame(w.conn, kind, meta, parts...); err != nil {
		return nil, err
	}
	got, payload, err := readFrame(w.conn, limit)
	if err == nil && got != want {
		err = fmt.Errorf("%w: type %q", errFrame, got)
	}
	return payload, err
}

// explain names the fault behind a failed exchange.
func (w *process) explain(err error) (FaultKind, string) {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return FaultWall, "killed at the wall limit"
	case errors.Is(err, errFrame):
		return FaultFrame, err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return FaultCrash, "the worker died: " + w.lastWords()
	}
	return FaultCrash, err.Error()
}

// take returns a living idle worker or starts one. The caller holds a slot.
func (p *Pool) take() (*process, error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		w := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if w.alive() {
			p.mu.Unlock()
			return w, nil
		}
		delete(p.all, w)
	}
	p.mu.Unlock()
	w, err := startProcess(p.launcher, p.config)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.all[w] = struct{}{}
	p.mu.Unlock()
	return w, nil
}

func (p *Pool) put(w *process) {
	p.mu.Lock()
	p.idle = append(p.idle, w)
	p.mu.Unlock()
}

// discard kills a worker. Close still waits until it is reaped; nobody else does.
func (p *Pool) discard(w *process) {
	w.kill()
	go func() {
		<-w.done
		p.mu.Lock()
		delete(p.all, w)
		p.mu.Unlock()
	}()
}

func nameOf(m Module) string { return m.Manifest.Kind + " " + m.Manifest.Name }

func contextError(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return reason.New(writv1.Reason_REASON_DEADLINE_EXCEEDED, "running a module: %w", ctx.Err())
	}
	return reason.New(writv1.Reason_REASON_CANCELLED, "running a module: %w", ctx.Err())
}
