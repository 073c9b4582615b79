package providertest_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	providerv1 "github.com/writ-kernel/writ/abi/provider/writ/provider/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/research"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/host/provider"
	"github.com/writ-kernel/writ/host/provider/providertest"
	"github.com/writ-kernel/writ/registry"
	"github.com/writ-kernel/writ/registry/registrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const passage = "Only the holder of a lease may renew it.\nNobody else may."

func payload(t *testing.T) []byte {
	t.Helper()
	raw, err := research.BuildPrompt(research.Task{Question: "Who may renew?", Perspective: "an operator",
		Passages: []research.Passage{{ID: "p1", Kind: "heading", Text: "# x"}, {ID: "p2", Kind: "paragraph", Text: passage}}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func supervisor(t *testing.T) *provider.Supervisor {
	t.Helper()
	p, err := registrytest.Open(t, "model:counting="+providertest.ImportPath).Load(wasm.KindModel, "counting")
	if err != nil {
		t.Fatal(err)
	}
	s, err := provider.Open(t.Context(), provider.Config{RunDir: filepath.Join(t.TempDir(), "run"),
		Adapters: []registry.Plugin{p}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func ask(ctx context.Context, t *testing.T, s *provider.Supervisor, server *providertest.Server, id string) (*providerv1.GenerateResponse, error) {
	t.Helper()
	return s.Generate(ctx, "counting", &providerv1.GenerateRequest{Model: server.Model(), Payload: payload(t), CallId: id, MaxOutputBytes: 16 << 10})
}

func TestEachScriptedAnswerArrivesAsWritten(t *testing.T) {
	s := supervisor(t)
	for name, c := range map[string]struct {
		script  func(providertest.Call) providertest.Answer
		code    reason.Code
		charge  string
		parses  bool
		inPlace bool // every quote stands in its passage
	}{
		"good":            {providertest.Good, 0, "0.001", true, true},
		"fabricated":      {providertest.FabricatedQuote, 0, "0.001", true, false},
		"shifted":         {providertest.ShiftedQuote, 0, "0.001", true, false},
		"unknown passage": {providertest.UnknownPassage, 0, "0.001", true, false},
		"garbage":         {providertest.Garbage, 0, "0.001", false, false},
		"above bound":     {providertest.WithCharge("12.5"), 0, "12.5", true, true},
		"no charge":       {providertest.WithCharge(""), 0, "", true, true},
		"oversized":       {providertest.Oversized, writv1.Reason_REASON_OUTPUT_TOO_LARGE, "0.001", false, false},
		"cut":             {providertest.Cut, writv1.Reason_REASON_PLUGIN_FAILED, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := providertest.NewServer(t, c.script)
			resp, err := ask(t.Context(), t, s, server, "call-1")
			if reason.CodeOf(err) != c.code || resp.GetCharge() != c.charge {
				t.Fatalf("%v, %v", resp, err)
			}
			if server.ByCall()["call-1"] != 1 || server.ByPayload()[canon.Digest(payload(t))] != 1 {
				t.Fatalf("counted %v, %v", server.ByCall(), server.ByPayload())
			}
			if err != nil {
				return
			}
			out, err := research.ParseChildOutput(resp.Text)
			if (err == nil) != c.parses {
				t.Fatalf("%s: %v", resp.Text, err)
			}
			for _, claim := range out.Claims {
				for _, cited := range claim.Citations {
					if in := cited.Passage == "p2" && strings.Contains(passage, cited.Quote); in != c.inPlace {
						t.Fatalf("%+v", cited)
					}
				}
			}
			if c.parses && len(out.Claims) == 0 {
				t.Fatal("no claim")
			}
		})
	}
}

func TestAHeldCallIsCountedAtOnceAndAnswersWhenReleased(t *testing.T) {
	s := supervisor(t)
	server := providertest.NewServer(t, providertest.Held)
	done := make(chan error, 1)
	var resp *providerv1.GenerateResponse
	go func() {
		var err error
		resp, err = ask(t.Context(), t, s, server, "held")
		done <- err
	}()
	if !server.Wait(1, 30*time.Second) {
		t.Fatal("no call arrived")
	}
	server.Release()
	if err := <-done; err != nil || !bytes.Contains(resp.Text, []byte("holder")) {
		t.Fatalf("%v, %v", resp, err)
	}
}

func TestACallThatTheHostGivesUpStaysCountedOnce(t *testing.T) {
	s := supervisor(t)
	server := providertest.NewServer(t, providertest.InOrder(providertest.Held, providertest.Good))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := ask(ctx, t, s, server, "given-up")
		done <- err
	}()
	if !server.Wait(1, 30*time.Second) {
		t.Fatal("no call arrived")
	}
	cancel()
	if err := <-done; !reason.Is(err, writv1.Reason_REASON_CANCELLED) {
		t.Fatalf("got %v", err)
	}
	if _, err := ask(t.Context(), t, s, server, "second"); err != nil {
		t.Fatal(err)
	}
	if n := server.ByCall(); n["given-up"] != 1 || n["second"] != 1 || len(server.Calls()) != 2 {
		t.Fatalf("counted %v", n)
	}
}
