package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/host/daemon"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// command is one run of writ in this process.
type command struct {
	stdout, stderr syncBuffer
	exit           chan int
	interrupt      context.CancelCauseFunc
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func start(w *world, args ...string) *command {
	c := &command{exit: make(chan int, 1)}
	ctx, cancel := context.WithCancelCause(context.Background())
	c.interrupt = cancel
	go func() {
		a := &app{open: w.open, stdout: &c.stdout, stderr: &c.stderr, width: 80}
		c.exit <- a.run(ctx, args)
		cancel(nil)
	}()
	return c
}

func (c *command) wait(t *testing.T, exit int) {
	t.Helper()
	if got := <-c.exit; got != exit {
		t.Errorf("exit %d, want %d\nstdout: %s\nstderr: %s", got, exit, c.stdout.String(), c.stderr.String())
	}
}

func (c *command) object(t *testing.T) map[string]any {
	t.Helper()
	var out map[string]any
	decoder := json.NewDecoder(strings.NewReader(c.stdout.String()))
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("%v in %q", err, c.stdout.String())
	}
	if decoder.More() {
		t.Errorf("more than one JSON value in %q", c.stdout.String())
	}
	return out
}

// place is a data directory to be, and a source file beside it.
func place(t *testing.T) (data, source string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	source = filepath.Join(dir, "a.md")
	if err := os.WriteFile(source, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "data"), source
}

func researchArgs(data, source string, more ...string) []string {
	return append([]string{"research", "--data", data, "--question", "Why?", "--perspective", "Mine", "--source", source + ":1-2"}, more...)
}

func TestExitCodeFollowsTheOperationsState(t *testing.T) {
	for state, exit := range map[writv1.OperationState]int{
		writv1.OperationState_OPERATION_STATE_COMPLETE:   exitComplete,
		writv1.OperationState_OPERATION_STATE_INCOMPLETE: exitUnended,
		writv1.OperationState_OPERATION_STATE_BLOCKED:    exitUnended,
		writv1.OperationState_OPERATION_STATE_FAILED:     exitUnended,
		writv1.OperationState_OPERATION_STATE_CANCELLED:  exitUnended,
		writv1.OperationState_OPERATION_STATE_UNKNOWN:    exitUnended,
	} {
		t.Run(stateName(state), func(t *testing.T) {
			w := newWorld()
			data, source := place(t)
			c := start(w, researchArgs(data, source, "--json")...)
			w.await(t, func() bool { return len(w.ops) == 1 })
			w.move("op-1", state, func(op *writv1.Operation) {
				if exit != exitComplete {
					op.Reason, op.Detail = writv1.Reason_REASON_EGRESS_NOT_GRANTED, "slot 1"
				}
			})
			c.wait(t, exit)
			got := c.object(t)
			if got["operation_id"] != "op-1" || got["state"] != stateName(state) {
				t.Errorf("got %v", got)
			}
			if _, has := got["reason"]; has != (exit != exitComplete) {
				t.Errorf("reason in %v", got)
			}
			if exit != exitComplete && !strings.Contains(c.stderr.String(), "egress_not_granted (slot 1)") {
				t.Errorf("stderr does not say why: %s", c.stderr.String())
			}
			for _, key := range []string{"deadline", "dossier", "manifest", "claims", "money", "receipts"} {
				if _, has := got[key]; !has {
					t.Errorf("%s is missing in %v", key, got)
				}
			}
		})
	}
}

func TestCtrlCCancelsWhatTheCommandAdmittedAndSaysWhatIsKept(t *testing.T) {
	w := newWorld()
	data, source := place(t)
	c := start(w, researchArgs(data, source)...)
	w.await(t, func() bool { return len(w.ops) == 1 })
	c.interrupt(interrupted{os.Interrupt})
	c.wait(t, exitUnended)
	if w.cancels != 1 || !strings.Contains(c.stderr.String(), "kept:") || !strings.Contains(c.stdout.String(), "cancelled") {
		t.Errorf("cancels %d\nstdout: %s\nstderr: %s", w.cancels, c.stdout.String(), c.stderr.String())
	}
}

func TestATerminatedCommandLeavesItsOperationPending(t *testing.T) {
	w := newWorld()
	data, source := place(t)
	c := start(w, researchArgs(data, source)...)
	w.await(t, func() bool { return len(w.ops) == 1 })
	c.interrupt(interrupted{syscall.SIGTERM})
	c.wait(t, exitUnended)
	if w.cancels != 0 || !strings.Contains(c.stderr.String(), "still pending, and kept: op-1") {
		t.Errorf("cancels %d, stderr: %s", w.cancels, c.stderr.String())
	}
	again := start(w, "ops", "resume", "--data", data)
	again.wait(t, exitComplete)
}

func TestCtrlCDoesNotCancelAnOperationThatWasThereBefore(t *testing.T) {
	w := newWorld()
	data, source := place(t)
	first := start(w, researchArgs(data, source, "--key", "k")...)
	w.await(t, func() bool { return len(w.ops) == 1 })
	second := start(w, researchArgs(data, source, "--key", "k")...)
	w.await(t, func() bool { return strings.Contains(second.stderr.String(), "operation op-1") })
	second.interrupt(interrupted{os.Interrupt})
	second.wait(t, exitUnended)
	if w.cancels != 0 || len(w.ops) != 1 {
		t.Errorf("cancels %d, operations %d", w.cancels, len(w.ops))
	}
	w.move("op-1", writv1.OperationState_OPERATION_STATE_COMPLETE, nil)
	first.wait(t, exitComplete)
}

func TestAPeerThatEndsIsTakenOverWithoutRepeating(t *testing.T) {
	w := newWorld()
	data, source := place(t)
	first := start(w, researchArgs(data, source, "--key", "first")...)
	w.await(t, func() bool { return len(w.ops) == 1 })
	second := start(w, researchArgs(data, source, "--key", "second")...)
	w.await(t, func() bool { return len(w.ops) == 2 })
	if w.opens != 1 {
		t.Fatalf("%d processes hold the directory", w.opens)
	}
	w.move("op-1", writv1.OperationState_OPERATION_STATE_COMPLETE, nil)
	first.wait(t, exitComplete)
	if !strings.Contains(first.stderr.String(), "still pending, and kept: op-2") {
		t.Errorf("the first does not say what it leaves: %s", first.stderr.String())
	}
	w.await(t, func() bool { return w.opens == 2 && w.starts == 2 })
	w.move("op-2", writv1.OperationState_OPERATION_STATE_COMPLETE, nil)
	second.wait(t, exitComplete)
	if len(w.ops) != 2 {
		t.Errorf("%d operations", len(w.ops))
	}
	if n := strings.Count(second.stderr.String(), "dossier: working"); n != 2 {
		t.Errorf("%d events were told, want each of the 2 once: %s", n, second.stderr.String())
	}
}

func TestLookingStartsNoWork(t *testing.T) {
	w := newWorld()
	data, _ := place(t)
	if _, err := daemon.MakeDataDir(data); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ops", "list"}, {"source", "list"}} {
		start(w, append(args, "--data", data)...).wait(t, exitComplete)
	}
	start(w, "ops", "show", "op-9", "--data", data).wait(t, exitInput)
	if w.starts != 0 || w.opens != 3 {
		t.Errorf("opens %d, starts %d", w.opens, w.starts)
	}
}

func TestLookingMakesNoDataDirectory(t *testing.T) {
	w := newWorld()
	data, _ := place(t)
	for _, args := range [][]string{{"ops", "list"}, {"ops", "show", "x"}, {"ops", "resume"}, {"ops", "cancel", "x"}, {"ops", "watch", "x"}, {"source", "list"}} {
		c := start(w, append(args, "--data", data, "--json")...)
		c.wait(t, exitInput)
		if problem, _ := c.object(t)["error"].(map[string]any); problem["field"] != "data" || problem["reason"] != "not_found" {
			t.Errorf("%v: %v", args, problem)
		}
	}
	if _, err := os.Lstat(data); err == nil {
		t.Error("the directory was made")
	}
}

func TestListPagesAndShowsNothingATerminalObeys(t *testing.T) {
	w := newWorld()
	data, source := place(t)
	for _, key := range []string{"a", "b\u202e", "c"} {
		c := start(w, researchArgs(data, source, "--key", key)...)
		w.await(t, func() bool { return len(w.ops) > 0 && w.ops[len(w.ops)-1].IdempotencyKey == key })
		w.move(w.ops[len(w.ops)-1].OperationId, writv1.OperationState_OPERATION_STATE_COMPLETE, nil)
		c.wait(t, exitComplete)
	}
	list := start(w, "ops", "list", "--data", data)
	list.wait(t, exitComplete)
	if text := list.stdout.String(); strings.Contains(text, "\u202e") || !strings.Contains(text, `\u{202E}`) || strings.Count(text, "op-") != 3 {
		t.Errorf("got %q", text)
	}
	limited := start(w, "ops", "list", "--data", data, "--limit", "2", "--json")
	limited.wait(t, exitComplete)
	if ops, _ := limited.object(t)["operations"].([]any); len(ops) != 2 {
		t.Errorf("got %v", ops)
	}
	sources := start(w, "source", "list", "--data", data, "--json")
	sources.wait(t, exitComplete)
	if raw := sources.stdout.String(); strings.Contains(raw, "\u202e") || sources.object(t)["sources"].([]any)[0].(map[string]any)["name"] != "a\u202e.md" {
		t.Errorf("JSON must carry the name and hide its effect: %q", raw)
	}
}

func TestGrantsAreReliedOnUnlessWithheld(t *testing.T) {
	for name, c := range map[string]struct {
		flags        []string
		read, egress uint64
	}{
		"both":      {nil, 3, 4},
		"no read":   {[]string{"--no-read"}, 0, 4},
		"no egress": {[]string{"--no-egress"}, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			data, source := place(t)
			cmd := start(w, researchArgs(data, source, c.flags...)...)
			w.await(t, func() bool { return len(w.ops) == 1 })
			use := w.inputs["op-1"].Slots[0].Sources[0]
			if use.ReadRevision != c.read || use.EgressRevision != c.egress {
				t.Errorf("got %v", use)
			}
			w.move("op-1", writv1.OperationState_OPERATION_STATE_COMPLETE, nil)
			cmd.wait(t, exitComplete)
		})
	}
}

func TestServerRefusalsAreToldInTheCallersWords(t *testing.T) {
	w := newWorld()
	data, source := place(t)
	if err := os.WriteFile(source, []byte("refuse me\nplease\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(w, researchArgs(data, source, "--json")...)
	c.wait(t, exitInput)
	problem, _ := c.object(t)["error"].(map[string]any)
	if problem["reason"] != "not_text" || problem["field"] != "source[0].content" || !strings.Contains(problem["message"].(string), source) {
		t.Errorf("got %v", problem)
	}
	if len(w.ops) != 0 {
		t.Error("an operation was admitted")
	}
}

func TestOpsSteerOneOperation(t *testing.T) {
	w := newWorld()
	data, source := place(t)
	admit := start(w, researchArgs(data, source)...)
	w.await(t, func() bool { return len(w.ops) == 1 })
	admit.interrupt(interrupted{syscall.SIGTERM})
	admit.wait(t, exitUnended)

	cancel := start(w, "ops", "cancel", "op-1", "--data", data, "--json")
	cancel.wait(t, exitComplete)
	if got := cancel.object(t); got["state"] != "cancelled" || w.cancels != 1 {
		t.Errorf("cancel: %v", got)
	}
	watch := start(w, "ops", "watch", "op-1", "--data", data)
	watch.wait(t, exitUnended)
	if lines := strings.Count(watch.stdout.String(), "\n"); lines != 3 {
		t.Errorf("watch told %d events: %s", lines, watch.stdout.String())
	}
	show := start(w, "ops", "show", "op-1", "--data", data)
	show.wait(t, exitComplete)
	if !strings.Contains(show.stdout.String(), "cancelled") {
		t.Errorf("show: %s", show.stdout.String())
	}
	resume := start(w, "ops", "resume", "op-1", "--data", data, "--json")
	resume.wait(t, exitUnended)
	if got := resume.object(t); got["operation_id"] != "op-1" || got["state"] != "cancelled" {
		t.Errorf("resume: %v", got)
	}
}

func TestALiveLineIsRewrittenOnATerminal(t *testing.T) {
	var out syncBuffer
	p := (&app{stderr: &out, terminal: true, width: 20}).progress()
	p.event(&writv1.OperationEvent{Kind: "claim", Slot: 1, Detail: "a\x1b[31m\nb \u202e and more than fits"})
	p.event(&writv1.OperationEvent{Kind: "succeed"})
	p.end()
	if got, want := out.String(), "\r\x1b[Kslot 1: working (a…\r\x1b[Kdossier: done\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
