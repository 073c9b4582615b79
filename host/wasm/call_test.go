package wasm

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	abi "github.com/writ-kernel/writ/abi/wasm"
)

// long is a wall limit that a slow machine does not reach.
var long = Limits{Wall: 30 * time.Second}

func ask(body string) Request {
	return Request{Op: abi.OpStructure, MediaType: "text/plain", Body: []byte(body)}
}

func wantFault(t *testing.T, err error, kind FaultKind) *Fault {
	t.Helper()
	f, ok := errors.AsType[*Fault](err)
	if !ok || f.Kind != kind || !reason.Is(err, writv1.Reason_REASON_PLUGIN_FAILED) {
		t.Fatalf("want fault %s, got %v", kind, err)
	}
	return f
}

// wantService proves that the host lives on and the pool still serves.
func wantService(t *testing.T, p *Pool, m Module) {
	t.Helper()
	r, err := p.Call(t.Context(), m, ask("echo still here"), long)
	if err != nil || string(r.Body) != "still here" {
		t.Fatalf("after the fault: %q, %v", r.Body, err)
	}
}

func (p *Pool) pids() (pids []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.all {
		pids = append(pids, w.proc.Pid)
	}
	return pids
}

func TestAnswerCarriesTheReceipt(t *testing.T) {
	m := hostileModule(t)
	r, err := newPool(t, Config{Workers: 1}).Call(t.Context(), m, ask("echo a\nb"), long)
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Body) != "a\nb" || string(r.Header) != `{"abi":"writ/1","kind":"reader","op":"structure"}` {
		t.Errorf("header %q, body %q", r.Header, r.Body)
	}
	if r.ModuleSHA256 != m.SHA256 || !strings.HasPrefix(r.Engine, "wazero ") || r.Wall <= 0 || r.PeakMemory < 1<<16 {
		t.Errorf("receipt %+v", r)
	}
}

func TestMisbehaviourDiscardsTheWorkerAndNothingElse(t *testing.T) {
	m := hostileModule(t)
	p := newPool(t, Config{Workers: 1})
	for _, c := range []struct {
		body   string
		limits Limits
		kind   FaultKind
		detail string
	}{
		{"loop", Limits{Wall: 300 * time.Millisecond}, FaultWall, "wall limit"},
		{"flood", long, FaultOutput, "output"},
		{"flood-on", long, FaultOutput, "output"},
		{"panic", long, FaultTrap, "unreachable"},
		{"exit", long, FaultTrap, "code 0"},
		{"hoard", long, FaultTrap, "runtime.mallocgc"},
		{"overread", long, FaultTrap, "input_read beyond"},
	} {
		t.Run(c.body, func(t *testing.T) {
			wantService(t, p, m)
			before := p.pids()
			_, err := p.Call(t.Context(), m, ask(c.body), c.limits)
			if f := wantFault(t, err, c.kind); !strings.Contains(f.Detail, c.detail) {
				t.Errorf("detail %q", f.Detail)
			}
			wantService(t, p, m)
			for _, pid := range p.pids() {
				if pid == before[0] {
					t.Error("the worker was used again")
				}
			}
		})
	}
}

func TestPanicShowsTheModulesOwnMessageEscaped(t *testing.T) {
	_, err := newPool(t, Config{Workers: 1}).Call(t.Context(), hostileModule(t), ask("panic"), long)
	if f := wantFault(t, err, FaultTrap); !strings.Contains(f.Log, `boom \x1b[31m`) {
		t.Errorf("log %q", f.Log)
	}
}

func TestMemoryLimitIsTheCalls(t *testing.T) {
	m := hostileModule(t)
	p := newPool(t, Config{Workers: 1})
	limits := Limits{Wall: 30 * time.Second, MemoryBytes: 1 << 20}
	_, err := p.Call(t.Context(), m, ask("echo x"), limits)
	wantFault(t, err, FaultRefused)
	wantService(t, p, m)
	// One page may be added under a limit of two, the next may not.
	grow := "\x41\x01\x40\x00\x41\x7f" // memory.grow 1; i32.const -1
	exact := moduleOf(handmade{run: grow + "\x46\x04\x40\x00\x0b" + grow + "\x47\x04\x40\x00\x0b\x41\x00"}.bytes())
	_, err = p.Call(t.Context(), exact, ask(""), Limits{Wall: long.Wall, MemoryBytes: 2 << 16})
	wantFault(t, err, FaultAnswer) // it ran to its end and wrote no answer
}

func TestAChainOfCallsWithoutALoopIsKilledToo(t *testing.T) {
	p := newPool(t, Config{Workers: 1})
	_, err := p.Call(t.Context(), moduleOf(handmade{chain: 60}.bytes()), ask(""), Limits{Wall: 300 * time.Millisecond})
	wantFault(t, err, FaultWall)
	wantService(t, p, hostileModule(t))
}

func TestTrapsOfHandMadeModules(t *testing.T) {
	p := newPool(t, Config{Workers: 1})
	for name, c := range map[string]struct {
		module handmade
		kind   FaultKind
	}{
		"unreachable":   {handmade{run: opUnreachable}, FaultTrap},
		"loop":          {handmade{run: opLoopForever}, FaultWall},
		"recursion":     {handmade{run: call(0)}, FaultTrap},
		"silent ok":     {handmade{}, FaultAnswer},
		"unknown code":  {handmade{run: "\x41\x09"}, FaultAnswer},
		"negative code": {handmade{run: "\x41\x7f"}, FaultAnswer},
		"output code":   {handmade{run: "\x41\x03"}, FaultOutput},
		"grow past limit": {handmade{run: "\x41\x80\x80\x01\x40\x00\x41\x7f\x47\x04\x40\x00\x0b\x00"}, // grow by 16384 pages; trap either way
			FaultTrap},
	} {
		t.Run(name, func(t *testing.T) {
			limits := long
			if c.kind == FaultWall {
				limits.Wall = 300 * time.Millisecond
			}
			_, err := p.Call(t.Context(), moduleOf(c.module.bytes()), ask(""), limits)
			wantFault(t, err, c.kind)
		})
	}
}

func TestModulesThatAskForMoreAreRefusedByName(t *testing.T) {
	p := newPool(t, Config{Workers: 1})
	for want, module := range map[string]handmade{
		"import env.abort (func) is not allowed":                        {imports: []string{importFunc("env", "abort")}},
		"import writ.fetch (func) is not allowed":                       {imports: []string{importFunc("writ", "fetch")}},
		"import wasi_snapshot_preview1.sock_open (func) is not allowed": {imports: []string{importFunc("wasi_snapshot_preview1", "sock_open")}},
		"import wasi_unstable.fd_write (func) is not allowed":           {imports: []string{importFunc("wasi_unstable", "fd_write")}},
		"import writ.log (memory) is not allowed":                       {imports: []string{name("writ") + name("log") + "\x02\x00\x01"}},
		"import writ.log (global) is not allowed":                       {imports: []string{name("writ") + name("log") + "\x03\x7f\x00"}},
		"import writ.log (table) is not allowed":                        {imports: []string{name("writ") + name("log") + "\x01\x70\x00\x01"}},
		`import \x1b[2J.\u{202e} (func) is not allowed`:                 {imports: []string{importFunc("\x1b[2J", "\u202e")}},
		"signature mismatch":                                            {imports: []string{importFunc("writ", "log")}},
		"start section":                                                 {start: true},
		"no export run":                                                 {noRun: true},
		"no export writ_abi_1":                                          {noMark: true},
		"no export memory":                                              {noMem: true},
		"feature \"reference-types\" is disabled":                       {table: vec("\x6f\x00\x01")},
		"min 65535 pages (3 Gi) over limit of 4096 pages (256 Mi":       {memory: "\x00\xff\xff\x03"},
	} {
		_, err := p.Call(t.Context(), moduleOf(module.bytes()), ask(""), long)
		if f := wantFault(t, err, FaultRefused); !strings.Contains(f.Detail, want) {
			t.Errorf("want %q in %q", want, f.Detail)
		}
	}
	if len(p.pids()) != 1 {
		t.Error("a refusal cost a worker")
	}
}

func TestBytesThatDoNotMatchTheirDigestNeverRun(t *testing.T) {
	m := hostileModule(t)
	m.Bytes = bytes.Clone(m.Bytes)
	m.Bytes[len(m.Bytes)-1] ^= 1
	_, err := newPool(t, Config{Workers: 1}).Call(t.Context(), m, ask("echo x"), long)
	if f := wantFault(t, err, FaultRefused); !strings.Contains(f.Detail, "expected sha256 "+m.SHA256) {
		t.Error(f.Detail)
	}
}

func TestHeadersThatLieAreRefused(t *testing.T) {
	m := hostileModule(t)
	p := newPool(t, Config{Workers: 1})
	for _, header := range []string{
		"no header\n",
		`{"abi":"writ/2","kind":"reader","op":"structure"}` + "\n",
		`{"abi":"writ/1","kind":"assembler","op":"structure"}` + "\n",
		`{"abi":"writ/1","kind":"reader","op":"assemble"}` + "\n",
		`{"kind":"reader","abi":"writ/1","op":"structure"}` + "\n",
		`{"abi":"writ/1","abi":"writ/1","kind":"reader","op":"structure"}` + "\n",
		`{"ABI":"writ/1","kind":"reader","op":"structure"}` + "\n",
		`{"abi":"writ/1","error":{"code":"x"},"kind":"reader","op":"structure"}` + "\n",
		"{\"abi\":\"writ/1\",\"kind\":\"reader\",\"op\":\"structure\",\"x\":\"\xff\"}\n",
	} {
		_, err := p.Call(t.Context(), m, ask("raw "+header), long)
		wantFault(t, err, FaultAnswer)
	}
	r, err := p.Call(t.Context(), m, ask(`raw {"abi":"writ/1","grease":[{}],"kind":"reader","op":"structure"}`+"\n"), long)
	if err != nil || !bytes.Contains(r.Header, []byte("grease")) {
		t.Errorf("an unknown field is no lie: %v", err)
	}
}

func TestRefusalIsAGuestErrorAndKeepsTheWorker(t *testing.T) {
	m := hostileModule(t)
	p := newPool(t, Config{Workers: 1})
	wantService(t, p, m)
	pid := p.pids()[0]
	for body, want := range map[string]GuestError{
		"refuse":  {Run: abi.RunRefused, Code: "bad_thing", Offset: 3, Detail: `no \x1b[2J`},
		"fault":   {Run: abi.RunInternal, Code: "internal", Offset: NoOffset, Detail: "lost"},
		"unknown": {Run: abi.RunRefused, Code: "bad_input", Offset: 0},
	} {
		r, err := p.Call(t.Context(), m, ask(body), long)
		want.Module = "reader hostile"
		if g, ok := errors.AsType[*GuestError](err); !ok || *g != want || !reason.Is(err, writv1.Reason_REASON_PLUGIN_FAILED) {
			t.Errorf("%s: %v", body, err)
		}
		if r.ModuleSHA256 != m.SHA256 {
			t.Errorf("%s: no receipt", body)
		}
	}
	_, err := p.Call(t.Context(), m, Request{Op: "other"}, long)
	if g, ok := errors.AsType[*GuestError](err); !ok || g.Run != abi.RunBadRequest || g.Code != abi.CodeUnknownOp {
		t.Errorf("unknown op: %v", err)
	}
	_, err = p.Call(t.Context(), m, ask("far"), long)
	wantFault(t, err, FaultAnswer)
	if pids := p.pids(); len(pids) != 1 || pids[0] != pid {
		t.Error("a refusal cost the worker")
	}
}

func TestLogIsCutAndEscaped(t *testing.T) {
	r, err := newPool(t, Config{Workers: 1}).Call(t.Context(), hostileModule(t), ask("log"), Limits{Wall: long.Wall, LogBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	line := `\x1b[2Jline of log\u{202e}` + "\n"
	if !strings.HasPrefix(r.Log, line+line) || len(r.Log) > 4*100 {
		t.Errorf("log %q", r.Log)
	}
}

func TestAModuleSeesNothingAndTheSameEveryTime(t *testing.T) {
	m := hostileModule(t)
	var seen []string
	for range 2 {
		p := newPool(t, Config{Workers: 1})
		for range 2 {
			r, err := p.Call(t.Context(), m, ask("look"), long)
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, string(r.Body))
		}
	}
	for _, s := range seen[1:] {
		if s != seen[0] {
			t.Errorf("differs:\n%s\n%s", seen[0], s)
		}
	}
	if !strings.HasPrefix(seen[0], "[] 0 2000-01-01T00:00:00Z 1h0m0s ") || !strings.Contains(seen[0], " true true true true true true\n") {
		t.Errorf("the world: %s", seen[0])
	}
	other, err := newPool(t, Config{Workers: 1}).Call(t.Context(), m, ask("look again"), long)
	if err != nil || string(other.Body) == seen[0] {
		t.Errorf("randomness does not follow the input: %v", err)
	}
}

func TestNoCallSeesAnEarlierOne(t *testing.T) {
	p := newPool(t, Config{Workers: 1})
	for range 3 {
		r, err := p.Call(t.Context(), hostileModule(t), ask("count"), long)
		if err != nil || string(r.Body) != "1" {
			t.Fatalf("%q, %v", r.Body, err)
		}
	}
	// Grow to 16 pages; trap when a byte on the first or the last page is set; set both.
	dirty := moduleOf(handmade{run: "\x41\x0f\x40\x00\x1a" + // memory.grow 15, drop
		"\x41\x00\x28\x02\xe8\x07\x41\x00\x28\x02\x80\x80\x3c\x72" + // load 1000 | load 983040
		"\x04\x40\x00\x0b" + // if: unreachable
		"\x41\x00\x41\x01\x36\x02\xe8\x07\x41\x00\x41\x01\x36\x02\x80\x80\x3c" + // store both
		"\x41\x00"}.bytes())
	for range 3 {
		_, err := p.Call(t.Context(), dirty, ask(""), long)
		wantFault(t, err, FaultAnswer) // it ran to its end and wrote no answer
	}
	if len(p.pids()) != 1 {
		t.Error("the calls did not share a worker")
	}
}

func TestCancellationKillsTheWorker(t *testing.T) {
	m := hostileModule(t)
	p := newPool(t, Config{Workers: 1})
	wantService(t, p, m)
	pid := p.pids()[0]
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := p.Call(ctx, m, ask("loop"), long)
	if !reason.Is(err, writv1.Reason_REASON_CANCELLED) || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err = p.Call(ctx, m, ask("loop"), long); !reason.Is(err, writv1.Reason_REASON_DEADLINE_EXCEEDED) {
		t.Fatal(err)
	}
	wantService(t, p, m)
	waitGone(t, pid)
}

func TestAWorkerKilledFromOutsideIsACrash(t *testing.T) {
	m := hostileModule(t)
	p := newPool(t, Config{Workers: 1})
	wantService(t, p, m)
	pid := p.pids()[0]
	time.AfterFunc(50*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	_, err := p.Call(t.Context(), m, ask("loop"), long)
	wantFault(t, err, FaultCrash)
	wantService(t, p, m)

	// Killed while idle: the next call does not notice.
	idle := p.pids()[0]
	_ = syscall.Kill(idle, syscall.SIGKILL)
	waitGone(t, idle)
	wantService(t, p, m)
}

func TestCallsRunSideBySideAndCloseLeavesNoProcess(t *testing.T) {
	m := hostileModule(t)
	p := newPool(t, Config{Workers: 2})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			want := strings.Repeat("x", i*1000)
			r, err := p.Call(t.Context(), m, ask("echo "+want), long)
			if err != nil || string(r.Body) != want {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	all.Wait()
	pids := p.pids()
	if len(pids) < 1 || len(pids) > 2 {
		t.Errorf("workers %v", pids)
	}
	done := make(chan error)
	go func() {
		_, err := p.Call(t.Context(), m, ask("loop"), Limits{Wall: time.Minute})
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	p.Close()
	if err := <-done; !reason.Is(err, writv1.Reason_REASON_CANCELLED) {
		t.Error(err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d: %v", pid, err)
		}
	}
	if _, err := p.Call(t.Context(), m, ask("echo"), long); !reason.Is(err, writv1.Reason_REASON_CANCELLED) {
		t.Errorf("call after close: %v", err)
	}
}

func TestBodiesBeyondTheCeilingAreRefusedBeforeAnyWorker(t *testing.T) {
	p := newPool(t, Config{Workers: 1})
	_, err := p.Call(t.Context(), Module{}, Request{Body: make([]byte, MaxInput+1)}, Limits{})
	if !reason.Is(err, writv1.Reason_REASON_TOO_LARGE) || len(p.pids()) != 0 {
		t.Fatal(err)
	}
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	for range 1000 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d lives on", pid)
}
