package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	abi "github.com/writ-kernel/writ/abi/provider"
	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/research"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/host/provider"
	"github.com/writ-kernel/writ/registry"
	"github.com/writ-kernel/writ/registry/registrytest"
)

const (
	testVersion  = "1.2.3"
	hostVariable = "WRIT_TEST_HOST_RUN_DIR"
)

var self = sync.OnceValues(func() (registry.Plugin, error) {
	exe, err := os.Executable()
	if err != nil {
		return registry.Plugin{}, err
	}
	raw, err := os.ReadFile(exe)
	return registry.Plugin{SHA256: canon.Digest(raw), Bytes: raw}, err
})

func open(runDir string, names ...string) (*provider.Supervisor, error) {
	return openWith(provider.Config{RunDir: runDir, Logger: slog.New(slog.DiscardHandler)}, names...)
}

func openWith(cfg provider.Config, names ...string) (*provider.Supervisor, error) {
	for _, name := range names {
		p, err := self()
		if err != nil {
			return nil, err
		}
		p.Manifest = wasm.Manifest{Kind: wasm.KindModel, Name: name, Version: testVersion}
		cfg.Adapters = append(cfg.Adapters, p)
	}
	if cfg.BackOff == 0 {
		cfg.BackOff = time.Millisecond
	}
	return provider.Open(context.Background(), cfg)
}

// start opens a supervisor and proves at the end that closing it leaves nothing.
func start(t *testing.T, cfg provider.Config, names ...string) *provider.Supervisor {
	t.Helper()
	if cfg.RunDir == "" {
		cfg.RunDir = filepath.Join(t.TempDir(), "run")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := openWith(cfg, names...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		left, err := os.ReadDir(cfg.RunDir)
		if err != nil || len(left) != 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return s
}

func generate(s *provider.Supervisor, name, model string) (*providerv1.GenerateResponse, error) {
	return s.Generate(context.Background(), name, &providerv1.GenerateRequest{Model: model, Payload: []byte("the payload")})
}

func look(t *testing.T, s *provider.Supervisor, name, model string) surroundings {
	t.Helper()
	resp, err := generate(s, name, model)
	if err != nil {
		t.Fatal(err)
	}
	var seen surroundings
	if err := json.Unmarshal(resp.Text, &seen); err != nil {
		t.Fatal(err)
	}
	return seen
}

func wantReason(t *testing.T, err error, code reason.Code, sent bool) {
	t.Helper()
	if !reason.Is(err, code) {
		t.Fatalf("got %v, want %s", err, reason.Name(code))
	}
	if errors.Is(err, provider.ErrNotSent) == sent {
		t.Fatalf("sent should be %v: %v", sent, err)
	}
}

// wantGone waits for a process to end; a zombie that its new parent has yet to reap is over too.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	for range 2000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("process %d is still there", pid)
}

func needProc(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc")
	}
}

func TestAnAdapterStartsLateStaysWarmAndAnswers(t *testing.T) {
	s := start(t, provider.Config{}, "good", "other")
	info, err := s.Info(t.Context(), "good")
	if err != nil || info.Name != "good" {
		t.Fatalf("%v, %v", info, err)
	}
	described, err := s.Describe(t.Context(), "good", "")
	if err != nil || len(described.Models) != 1 {
		t.Fatalf("%v, %v", described, err)
	}
	resp, err := generate(s, "good", "echo")
	if err != nil || string(resp.Text) != "the payload" || resp.Charge != "0.01" {
		t.Fatalf("%v, %v", resp, err)
	}
	if a, b := look(t, s, "good", "look").Pid, look(t, s, "good", "look").Pid; a != b {
		t.Fatalf("two processes %d and %d", a, b)
	}
	_, err = generate(s, "nobody", "echo")
	wantReason(t, err, writv1.Reason_REASON_NOT_FOUND, false)
}

func TestTheExtractiveModelOfThisBuildAnswersThroughTheSupervisor(t *testing.T) {
	s := start(t, provider.Config{Adapters: []registry.Plugin{registrytest.Load(t, wasm.KindModel, "extractive")}})
	payload, err := research.BuildPrompt(research.Task{Question: "Who may renew a lease?", Perspective: "an operator",
		Passages: []research.Passage{{ID: "p1", Kind: "paragraph", Text: "Only its holder may renew a lease. It rains."}}})
	if err != nil {
		t.Fatal(err)
	}
	described, err := s.Describe(t.Context(), "extractive", "")
	if err != nil {
		t.Fatal(err)
	}
	req := &providerv1.GenerateRequest{Model: described.Models[0].Name, Payload: payload, MaxOutputBytes: 16 << 10}
	first, err := s.Generate(t.Context(), "extractive", req)
	if err != nil {
		t.Fatal(err)
	}
	out, err := research.ParseChildOutput(first.Text)
	if err != nil || len(out.Claims) != 1 || out.Claims[0].Citations[0].Quote != "Only its holder may renew a lease." {
		t.Fatalf("%s, %v", first.Text, err)
	}
	again, err := s.Generate(t.Context(), "extractive", req)
	if err != nil || !bytes.Equal(first.Text, again.Text) {
		t.Fatalf("%s, %v", again.GetText(), err)
	}
}

func TestAnAdapterSeesNothingOfTheHost(t *testing.T) {
	t.Setenv("WRIT_TEST_SECRET", "hidden")
	s := start(t, provider.Config{}, "good")
	seen := look(t, s, "good", "look")
	allowed := []string{abi.Handshake.MagicCookieKey, "PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS",
		"PLUGIN_CLIENT_CERT", "PLUGIN_UNIX_SOCKET_DIR"}
	for _, entry := range seen.Env {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains(allowed, name) {
			t.Errorf("variable %s", entry)
		}
	}
	if len(seen.Args) != 1 || seen.Args[0] != "good" {
		t.Errorf("arguments %q", seen.Args)
	}
	for _, file := range seen.Files {
		if filepath.IsAbs(file) && file != "/dev/null" && !strings.HasPrefix(file, "/proc/") && !strings.HasPrefix(file, "/sys/") {
			t.Errorf("open file %s", file)
		}
	}
	for _, dir := range []string{seen.Dir, filepath.Dir(seen.Dir)} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("directory %s: %v, %v", dir, info, err)
		}
	}
	file, err := os.Stat(filepath.Join(filepath.Dir(seen.Dir), "good"))
	if err != nil || file.Mode().Perm() != 0o500 {
		t.Errorf("file %v, %v", file, err)
	}
}

func TestADirectoryDeeperThanASocketAddressWorks(t *testing.T) {
	needProc(t)
	s := start(t, provider.Config{RunDir: filepath.Join(t.TempDir(), strings.Repeat("deep", 40), "run")}, "good")
	if _, err := generate(s, "good", "echo"); err != nil {
		t.Fatal(err)
	}
}

func TestAForeignHandshakeIsRefusedWithoutADial(t *testing.T) {
	for _, name := range []string{"tcp", "foreign", "parent", "abstract", "link", "file"} {
		t.Run(name, func(t *testing.T) {
			base, err := os.MkdirTemp("", "writ") // short, for the address of the listener
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(base) })
			foreign, err := net.Listen("unix", filepath.Join(base, "foreign.sock"))
			if err != nil {
				t.Fatal(err)
			}
			dialled := make(chan bool, 1)
			go func() {
				c, err := foreign.Accept()
				if err == nil {
					c.Close()
				}
				dialled <- err == nil
			}()
			s := start(t, provider.Config{RunDir: filepath.Join(base, "run")}, name)
			_, err = generate(s, name, "echo")
			wantReason(t, err, writv1.Reason_REASON_PLUGIN_FAILED, false)
			if !strings.Contains(err.Error(), "no socket in its own directory") {
				t.Errorf("got %v", err)
			}
			foreign.Close()
			if <-dialled {
				t.Error("the foreign socket was dialled")
			}
		})
	}
}

func TestWhatIsNoAdapterIsRefused(t *testing.T) {
	for name, want := range map[string]string{
		"exits":         "",
		"babbles":       "hello",
		"endless":       "",
		"netrpc":        "unsupported plugin protocol",
		"old":           "incompatible API version",
		"no-info":       "Internal",
		"wrong-abi":     "ABI: expected writ.provider.v1",
		"wrong-name":    "name: expected wrong-name",
		"wrong-version": "version: expected 1.2.3",
		"wrong-kind":    "serves no local_model",
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, provider.Config{}, name)
			_, err := generate(s, name, "echo")
			wantReason(t, err, writv1.Reason_REASON_PLUGIN_FAILED, false)
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 1024 {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestAChangedByteIsNeverExecuted(t *testing.T) {
	good, err := self()
	if err != nil {
		t.Fatal(err)
	}
	good.Manifest.Name, good.Manifest.Version = "good", testVersion
	changed := good
	changed.Bytes = bytes.Clone(good.Bytes)
	changed.Bytes[len(changed.Bytes)-1] ^= 1
	s := start(t, provider.Config{Adapters: []registry.Plugin{changed}})
	for range 2 {
		_, err = generate(s, "good", "echo")
		wantReason(t, err, writv1.Reason_REASON_PLUGIN_DIGEST, false)
	}

	// The file is looked at again at every start.
	dir := filepath.Join(t.TempDir(), "run")
	s = start(t, provider.Config{RunDir: dir, Adapters: []registry.Plugin{good}})
	if _, err := generate(s, "good", "echo"); err != nil {
		t.Fatal(err)
	}
	if _, err := generate(s, "good", "die"); err == nil {
		t.Fatal("it lives")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "good"))
	if len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	if err := os.Chmod(files[0], 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], changed.Bytes, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err = generate(s, "good", "echo")
	wantReason(t, err, writv1.Reason_REASON_PLUGIN_DIGEST, false)
}

func TestAnswersOverABoundAreRefusedAndKeepTheirCharge(t *testing.T) {
	s := start(t, provider.Config{}, "good")
	for model, c := range map[string]struct {
		code   reason.Code
		charge string
	}{
		"large":      {writv1.Reason_REASON_OUTPUT_TOO_LARGE, "0.01"},
		"huge":       {writv1.Reason_REASON_OUTPUT_TOO_LARGE, ""},
		"finish":     {writv1.Reason_REASON_OUTPUT_INVALID, "0.01"},
		"late":       {writv1.Reason_REASON_DEADLINE_EXCEEDED, ""},
		"refuse":     {writv1.Reason_REASON_PLUGIN_FAILED, ""},
		"bad-string": {writv1.Reason_REASON_PLUGIN_FAILED, ""},
	} {
		t.Run(model, func(t *testing.T) {
			resp, err := generate(s, "good", model)
			wantReason(t, err, c.code, true)
			if resp.GetCharge() != c.charge || resp.GetText() != nil || strings.Contains(err.Error(), "payload") {
				t.Fatalf("%v, %v", resp, err)
			}
		})
	}
	_, err := s.Generate(t.Context(), "good", &providerv1.GenerateRequest{Model: "echo", Payload: []byte("12345"), MaxOutputBytes: 4})
	wantReason(t, err, writv1.Reason_REASON_OUTPUT_TOO_LARGE, true)
	_, err = s.Generate(t.Context(), "good", &providerv1.GenerateRequest{Model: "echo", Payload: make([]byte, abi.MaxPayloadBytes+1)})
	wantReason(t, err, writv1.Reason_REASON_PROMPT_TOO_LARGE, false)
}

func TestAFloodOfOutputIsDrainedBoundedAndEscaped(t *testing.T) {
	var log safeBuffer
	s := start(t, provider.Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))}, "good")
	if _, err := generate(s, "good", "flood"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text := log.String()
	if len(text) > 256<<10 || strings.Contains(text, "\x1b") || strings.Contains(text, "ooooo") {
		t.Fatalf("%d bytes of log", len(text))
	}
	if !strings.Contains(text, "rrrr") || !strings.Contains(text, "the rest is dropped") {
		t.Fatalf("no diagnostics in %.2000s", text)
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *safeBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

func TestAdapterNamesThatCouldLeaveTheDirectoryAreRefused(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", "A", "-x", strings.Repeat("x", 65)} {
		if s, err := open(filepath.Join(t.TempDir(), "run"), name); !reason.Is(err, writv1.Reason_REASON_INVALID_INPUT) {
			t.Errorf("%q: %v, %v", name, s, err)
		}
	}
	if _, err := open(filepath.Join(t.TempDir(), "run"), "a", "a"); !reason.Is(err, writv1.Reason_REASON_INVALID_INPUT) {
		t.Errorf("twice: %v", err)
	}
}
