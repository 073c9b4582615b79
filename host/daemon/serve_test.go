package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/api/writ/v1/writv1connect"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/api"
	"github.com/writ-kernel/writ/host/client"
	"github.com/writ-kernel/writ/host/daemon"
)

// fakeNode answers the real protocol over the real socket; only the kernel behind it is missing.
type fakeNode struct {
	writv1connect.UnimplementedOperationsServiceHandler

	mu      sync.Mutex
	steps   []string
	work    context.Context
	failed  chan error
	drained error
}

func newFakeNode() *fakeNode { return &fakeNode{failed: make(chan error, 1)} }

func (n *fakeNode) step(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.steps = append(n.steps, name)
}

func (n *fakeNode) Handler() http.Handler {
	server := connect.NewServer(api.Errors(slog.New(slog.DiscardHandler)))
	writv1connect.RegisterOperationsServiceHandler(server, n)
	mux := http.NewServeMux()
	connecthttp.Mount(mux, server, api.ServerOptions()...)
	return mux
}

func (n *fakeNode) Start(ctx context.Context) error { n.work = ctx; n.step("start"); return nil }

func (n *fakeNode) Drain(context.Context) ([]string, error) {
	if n.work != nil && n.work.Err() != nil {
		n.step("work was cut off")
	}
	n.step("drain")
	return []string{"op-1"}, n.drained
}

func (n *fakeNode) Close() error         { n.step("close"); return nil }
func (n *fakeNode) Failed() <-chan error { return n.failed }

func (n *fakeNode) GetOperation(_ context.Context, req *writv1.GetOperationRequest) (*writv1.GetOperationResponse, error) {
	switch req.OperationId {
	case "missing":
		return nil, reason.Field(writv1.Reason_REASON_NOT_FOUND, "operation_id", "there is no such operation").WithNext("List them.")
	case "broken":
		return nil, errors.New("secret")
	}
	return &writv1.GetOperationResponse{Operation: &writv1.Operation{OperationId: req.OperationId}}, nil
}

func (n *fakeNode) WatchOperation(ctx context.Context, req *writv1.WatchOperationRequest, stream writv1connect.OperationsServiceWatchOperationServerStream) error {
	if err := stream.Send(&writv1.WatchOperationResponse{Event: &writv1.OperationEvent{Sequence: req.AfterSequence + 1}}); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

type running struct {
	dir, socket string
	node        *fakeNode
	pending     []string
	stop        func() error
	ended       chan error
}

func serve(t *testing.T, config daemon.Config) *running {
	t.Helper()
	if config.DataDir == "" {
		config.DataDir = tempDir(t)
	}
	r := &running{dir: config.DataDir, node: newFakeNode(), ended: make(chan error, 1)}
	ready := make(chan daemon.Serving, 1)
	config.Ready = func(s daemon.Serving) { ready <- s }
	config.Drained = func(pending []string) { r.pending = pending }
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		r.ended <- daemon.Serve(ctx, config, func(string) (daemon.Node, error) { return r.node, nil })
	}()
	r.stop = sync.OnceValue(func() error { cancel(); return <-r.ended })
	t.Cleanup(func() { _ = r.stop() })
	select {
	case s := <-ready:
		r.socket = s.Socket
	case err := <-r.ended:
		r.ended <- err
		t.Fatalf("did not serve: %v", err)
	}
	return r
}

func (r *running) http(t *testing.T, h2 bool) *http.Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", r.socket)
	}}
	if h2 {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func post(t *testing.T, c *http.Client, path, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

const (
	getOperation   = "/writ.v1.OperationsService/GetOperation"
	admitOperation = "/writ.v1.OperationsService/AdmitOperation"
)

func TestSocketServesJSONStrictlyWithTypedErrors(t *testing.T) {
	r := serve(t, daemon.Config{})
	c := r.http(t, false)
	for name, c2 := range map[string]struct {
		path, body string
		status     int
		want       []string
		never      string
	}{
		"an answer":        {getOperation, `{"operation_id":"a"}`, 200, []string{`"operationId"`}, ""},
		"an unknown field": {admitOperation, `{"research":{"slots":[{"sources":[{},{"from_lin":1}]}]}}`, 400, []string{`"invalid_argument"`, `REASON_UNKNOWN_FIELD`, `research.slots[0].sources[1].from_lin`}, ""},
		"a duplicate":      {admitOperation, `{"research":{"question":"a","question":"b"}}`, 400, []string{`REASON_DUPLICATE_FIELD`, `research.question`}, ""},
		"a bad byte":       {admitOperation, "{\"research\":{\"question\":\"\xff\"}}", 400, []string{`REASON_INVALID_UTF8`, `research.question`}, ""},
		"a wrong type":     {admitOperation, `{"research":{"allowance":"much"}}`, 400, []string{`REASON_INVALID_INPUT`, `research.allowance`}, ""},
		"too much":         {getOperation, `{"operation_id":"` + strings.Repeat("a", api.MaxRequestBytes) + `"}`, 429, []string{`REASON_TOO_LARGE`}, ""},
		"a typed refusal":  {getOperation, `{"operation_id":"missing"}`, 404, []string{`"not_found"`, `REASON_NOT_FOUND`, `operation_id`, `List them.`}, ""},
		"a fault":          {getOperation, `{"operation_id":"broken"}`, 500, []string{`"internal"`, `REASON_INTERNAL`}, "secret"},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := post(t, c, c2.path, c2.body)
			if status != c2.status {
				t.Errorf("status %d, want %d: %s", status, c2.status, text)
			}
			for _, want := range c2.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s lacks %s", text, want)
				}
			}
			if c2.never != "" && strings.Contains(text, c2.never) {
				t.Errorf("%s tells %s", text, c2.never)
			}
		})
	}
}

func TestWebPagesAreRefused(t *testing.T) {
	r := serve(t, daemon.Config{})
	c := r.http(t, false)
	for _, header := range [][]string{{"Origin", "http://localhost"}, {"Host", "evil.example"}, {"Host", "10.0.0.1:80"}} {
		if status, text := post(t, c, getOperation, `{"operation_id":"a"}`, header...); status != 403 || !strings.Contains(text, "permission_denied") {
			t.Errorf("%v: %d %s", header, status, text)
		}
	}
	for _, host := range []string{"localhost:1", "127.0.0.1", "[::1]:8080", "unix", "writ"} {
		if status, text := post(t, c, getOperation, `{"operation_id":"a"}`, "Host", host); status != 200 {
			t.Errorf("%s: %d %s", host, status, text)
		}
	}
}

func TestSocketServesEveryProtocol(t *testing.T) {
	r := serve(t, daemon.Config{})
	for name, options := range map[string][]connecthttp.Option{
		"connect": nil, "connect JSON": {connecthttp.WithProtoJSON()}, "gRPC": {connecthttp.WithGRPC()}, "gRPC-Web": {connecthttp.WithGRPCWeb()},
	} {
		t.Run(name, func(t *testing.T) {
			rpc := connect.NewClient(connecthttp.NewTransport(r.http(t, true), "http://localhost", options...))
			operations := writv1connect.NewOperationsServiceClient(rpc)
			got, err := operations.GetOperation(t.Context(), &writv1.GetOperationRequest{OperationId: "a"})
			if err != nil || got.Operation.OperationId != "a" {
				t.Errorf("got %v, %v", got, err)
			}
			_, err = operations.GetOperation(t.Context(), &writv1.GetOperationRequest{OperationId: "missing"})
			if refusal, ok := api.FromConnect(err); !ok || refusal.Code != writv1.Reason_REASON_NOT_FOUND || refusal.Field != "operation_id" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOneHolderServes(t *testing.T) {
	r := serve(t, daemon.Config{})
	err := daemon.Serve(t.Context(), daemon.Config{DataDir: r.dir}, func(string) (daemon.Node, error) {
		t.Error("a second node was opened")
		return nil, os.ErrInvalid
	})
	if !reason.Is(err, writv1.Reason_REASON_STORE_HELD) {
		t.Errorf("got %v", err)
	}
}

func TestEndDrainsBeforeStreamsAndStoreEnd(t *testing.T) {
	r := serve(t, daemon.Config{})
	c, err := client.Dial(t.Context(), r.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	stream, err := c.Operations.WatchOperation(t.Context(), &writv1.WatchOperationRequest{OperationId: "a", AfterSequence: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if got, err := stream.Receive(); err != nil || got.Event.Sequence != 5 {
		t.Fatalf("got %v, %v", got, err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop() }()
	if _, err := stream.Receive(); !client.Lost(err) {
		t.Errorf("an open stream ended with %v", err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("serve: %v", err)
	}
	if want := []string{"start", "drain", "close"}; !slices.Equal(r.node.steps, want) {
		t.Errorf("got %v, want %v", r.node.steps, want)
	}
	if !slices.Equal(r.pending, []string{"op-1"}) {
		t.Errorf("pending %v", r.pending)
	}
	if _, err := client.Dial(t.Context(), r.dir); !daemon.Unserved(err) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(r.dir, daemon.SocketName)); err == nil {
		t.Error("the socket stayed")
	}
	serve(t, daemon.Config{DataDir: r.dir}) // the lock is free again
}

func TestPassiveServesWithoutStarting(t *testing.T) {
	r := serve(t, daemon.Config{Passive: true})
	if status, _ := post(t, r.http(t, false), getOperation, `{"operation_id":"a"}`); status != 200 {
		t.Errorf("status %d", status)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if slices.Contains(r.node.steps, "start") || !slices.Contains(r.node.steps, "close") {
		t.Errorf("got %v", r.node.steps)
	}
}

func TestALostStoreEndsTheProcessWithoutDrain(t *testing.T) {
	r := serve(t, daemon.Config{})
	lost := errors.New("lost")
	r.node.failed <- lost
	select {
	case err := <-r.ended:
		if !errors.Is(err, lost) {
			t.Errorf("got %v", err)
		}
		r.ended <- nil // for stop
	case <-time.After(time.Minute):
		t.Fatal("goes on serving")
	}
	if want := []string{"start", "close"}; !slices.Equal(r.node.steps, want) {
		t.Errorf("got %v, want %v", r.node.steps, want)
	}
}

func TestAFailedOpenReleasesTheLock(t *testing.T) {
	dir := tempDir(t)
	refusal := reason.New(writv1.Reason_REASON_STORE_FORMAT, "newer")
	err := daemon.Serve(t.Context(), daemon.Config{DataDir: dir}, func(string) (daemon.Node, error) { return nil, refusal })
	if !errors.Is(err, refusal) {
		t.Fatal(err)
	}
	lock, err := daemon.AcquireLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	lock.Release()
}

func TestAKilledServerIsALostCall(t *testing.T) {
	// A server that dies without a word: the connection ends in the middle of a stream.
	dir := tempDir(t)
	listener, err := net.Listen("unix", filepath.Join(dir, daemon.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if n, _ := conn.Read(make([]byte, 4096)); n > 0 {
				_, _ = io.Copy(conn, bytes.NewReader([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/connect+proto\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n\x00\x00")))
			}
			conn.Close()
		}
	}()
	c, err := client.Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := c.Operations.WatchOperation(t.Context(), &writv1.WatchOperationRequest{OperationId: "a"})
	if err == nil {
		_, err = stream.Receive()
		stream.Close()
	}
	if !client.Lost(err) {
		t.Errorf("a cut stream: %v", err)
	}
	listener.Close()
	<-done
	_, err = c.Operations.GetOperation(t.Context(), &writv1.GetOperationRequest{OperationId: "a"})
	if !client.Lost(err) {
		t.Errorf("no server: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Operations.GetOperation(ctx, &writv1.GetOperationRequest{OperationId: "a"})
	if err == nil || client.Lost(err) {
		t.Errorf("a cancelled call: %v", err)
	}
	c.Close()
}
