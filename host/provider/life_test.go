package provider_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/provider"
)

func TestAStartThatHangsEndsWithItsTime(t *testing.T) {
	for _, name := range []string{"silent", "deaf"} {
		t.Run(name, func(t *testing.T) {
			s := start(t, provider.Config{StartTimeout: 300 * time.Millisecond}, name)
			_, err := generate(s, name, "echo")
			wantReason(t, err, writv1.Reason_REASON_PLUGIN_FAILED, false)
			if !strings.Contains(err.Error(), "not ready within") {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestDeathInACallFailsThatCallAndTheNextOneStartsAfresh(t *testing.T) {
	for _, how := range []string{"die", "panic"} {
		t.Run(how, func(t *testing.T) {
			s := start(t, provider.Config{}, "good")
			first := look(t, s, "good", "look").Pid
			_, err := generate(s, "good", how)
			wantReason(t, err, writv1.Reason_REASON_PLUGIN_FAILED, true)
			if second := look(t, s, "good", "look").Pid; second == first {
				t.Fatal("the same process")
			}
		})
	}
}

func TestAnAdapterKilledBetweenCallsIsReplaced(t *testing.T) {
	needProc(t)
	s := start(t, provider.Config{}, "good")
	first := look(t, s, "good", "look").Pid
	process, err := os.FindProcess(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	wantGone(t, first)
	// The host may learn of the death before the next call or in it; after that it is over.
	if _, err := generate(s, "good", "look"); err != nil {
		wantReason(t, err, writv1.Reason_REASON_PLUGIN_FAILED, true)
	}
	if second := look(t, s, "good", "look").Pid; second == first {
		t.Fatal("the same process")
	}
}

func TestAHangingCallEndsWithItsDeadlineAndItsProcess(t *testing.T) {
	needProc(t)
	s := start(t, provider.Config{}, "good")
	pid := look(t, s, "good", "look").Pid
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := s.Generate(ctx, "good", &providerv1.GenerateRequest{Model: "hang"})
	wantReason(t, err, writv1.Reason_REASON_DEADLINE_EXCEEDED, true)
	wantGone(t, pid)
	if _, err := generate(s, "good", "echo"); err != nil {
		t.Fatalf("the next call: %v", err)
	}
}

func TestACancelledCallEndsItsProcessAndIsNoFailureOfTheAdapter(t *testing.T) {
	s := start(t, provider.Config{}, "good")
	for range 6 { // more often than failures are forgiven
		pid := look(t, s, "good", "look").Pid
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		_, err := s.Generate(ctx, "good", &providerv1.GenerateRequest{Model: "hang"})
		wantReason(t, err, writv1.Reason_REASON_CANCELLED, true)
		wantGone(t, pid)
	}
}

func TestACallWaitingForItsTurnEndsWithItsOwnTime(t *testing.T) {
	s := start(t, provider.Config{}, "good")
	if _, err := generate(s, "good", "echo"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Generate(ctx, "good", &providerv1.GenerateRequest{Model: "hang"})
		done <- err
	}()
	var waited error
	for waited == nil { // until the hanging call has the turn
		short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, waited = s.Generate(short, "good", &providerv1.GenerateRequest{Model: "echo"})
		stop()
	}
	wantReason(t, waited, writv1.Reason_REASON_DEADLINE_EXCEEDED, false)
	cancel()
	wantReason(t, <-done, writv1.Reason_REASON_CANCELLED, true)
}

func TestTooManyFailuresInARowDisableAnAdapterWithTheReason(t *testing.T) {
	s := start(t, provider.Config{}, "good", "exits")
	for range 5 {
		if _, err := generate(s, "exits", "echo"); strings.Contains(fmt.Sprint(err), "disabled") {
			t.Fatalf("too early: %v", err)
		}
	}
	_, err := generate(s, "exits", "echo")
	wantReason(t, err, writv1.Reason_REASON_PLUGIN_FAILED, false)
	if !strings.Contains(err.Error(), "disabled") || !strings.Contains(err.Error(), "did not start") {
		t.Fatalf("got %v", err)
	}
	for range 4 {
		if _, err := generate(s, "good", "die"); err == nil {
			t.Fatal("it lives")
		}
	}
	for range 5 { // an answer in between forgives
		if _, err := generate(s, "good", "echo"); err != nil {
			t.Fatalf("another adapter's failures, or forgiven ones, count: %v", err)
		}
		if _, err := generate(s, "good", "die"); err == nil {
			t.Fatal("it lives")
		}
	}
}

func TestCloseEndsRunningCallsAndEveryProcessOfTheGroup(t *testing.T) {
	needProc(t)
	s := start(t, provider.Config{}, "good")
	seen := look(t, s, "good", "fork")
	done := make(chan error, 1)
	go func() {
		_, err := generate(s, "good", "hang")
		done <- err
	}()
	time.Sleep(50 * time.Millisecond) // either order is right; this makes the interesting one likely
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !reason.Is(err, writv1.Reason_REASON_CANCELLED) {
		t.Fatalf("got %v", err)
	}
	wantGone(t, seen.Pid)
	wantGone(t, seen.Child)
	_, err := generate(s, "good", "echo")
	wantReason(t, err, writv1.Reason_REASON_CANCELLED, false)
}

func TestAnAdapterThatDiesTakesItsChildrenAlong(t *testing.T) {
	needProc(t)
	s := start(t, provider.Config{}, "good")
	seen := look(t, s, "good", "fork")
	_, err := generate(s, "good", "die")
	wantReason(t, err, writv1.Reason_REASON_PLUGIN_FAILED, true)
	wantGone(t, seen.Child)
}

func TestAnAdapterKilledFromOutsideTakesItsChildrenAlong(t *testing.T) {
	needProc(t)
	s := start(t, provider.Config{}, "good")
	seen := look(t, s, "good", "fork")
	process, err := os.FindProcess(seen.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	wantGone(t, seen.Child) // without any further call
}

func TestAKilledHostLeavesNoProcessAndTheNextOneClearsItsFiles(t *testing.T) {
	needProc(t)
	runDir := filepath.Join(t.TempDir(), "run")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(exe)
	host.Env = append(os.Environ(), hostVariable+"="+runDir)
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if kill := host.Process.Kill(); err != nil || kill != nil {
		t.Fatalf("%v, %v", err, kill)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = host.Wait()
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	wantGone(t, pid)
	if left, _ := os.ReadDir(runDir); len(left) == 0 {
		t.Fatal("nothing to clear, so nothing is tested")
	}
	s := start(t, provider.Config{RunDir: runDir}, "good")
	if left, _ := os.ReadDir(runDir); len(left) != 0 {
		t.Fatalf("left %v", left)
	}
	if _, err := generate(s, "good", "echo"); err != nil {
		t.Fatal(err)
	}
}
