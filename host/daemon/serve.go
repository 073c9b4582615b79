package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/api"
)

// Node is what a data directory contains once it is open: the kernel with its store, and the
// runner that drives it.
type Node interface {
	// Handler serves the operator API. It is used from before Start until Drain has returned.
	Handler() http.Handler
	// Start begins to drive unfinished work and returns. The work goes on until Drain or until ctx
	// ends.
	Start(ctx context.Context) error
	// Drain starts nothing new, brings what runs to its next durable boundary, and returns the
	// operations that are not finished. Calls after ctx has ended may be cut off.
	Drain(ctx context.Context) (pending []string, err error)
	// Close releases everything. It is called once, also when Start was not.
	Close() error
}

// Failer is a Node that can lose its store. The process must then exit: what it last wrote is
// known only to the next one that opens the directory.
type Failer interface {
	// Failed delivers the failure, once.
	Failed() <-chan error
}

// Config says how a directory is served. Only DataDir is required.
type Config struct {
	// DataDir is created with mode 0700 when it does not exist.
	DataDir string
	// Passive serves the API without starting the node's work. Commands that only look use it, so
	// that looking contacts no provider.
	Passive bool
	// DrainTimeout bounds the end of running work; 0 means DefaultDrainTimeout.
	DrainTimeout time.Duration
	// Ready is called once, when the socket answers.
	Ready func(Serving)
	// Drained is called with the operations that are not finished, after the drain.
	Drained func(pending []string)
	// Log gets what no caller sees; nil discards it.
	Log *slog.Logger
}

// Serving is what Ready gets.
type Serving struct {
	// Dir is the resolved data directory.
	Dir string
	// Socket is the path of its socket.
	Socket string
}

// DefaultDrainTimeout is a little more than one provider contact may take, so that a call that has
// begun is settled and not left unknown.
const DefaultDrainTimeout = 50 * time.Second

const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	// shutdownTimeout bounds how long finished calls may take to send their last bytes.
	shutdownTimeout = 5 * time.Second
)

// errGoing ends streams that are open when the process goes away. Its reason tells a client to look
// for the next holder.
var errGoing = &reason.Error{
	Code: writv1.Reason_REASON_BUSY, Detail: "the process that held the data directory is ending", Retryable: true,
	Next: "Send the same request again.",
}

// Serve takes the directory, opens a node in it and serves it on the unix socket until ctx ends,
// then drains. It returns nil after a clean end and reason store_held when another process holds
// the directory.
func Serve(ctx context.Context, config Config, open func(dir string) (Node, error)) (err error) {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.DrainTimeout == 0 {
		config.DrainTimeout = DefaultDrainTimeout
	}
	dir, err := MakeDataDir(config.DataDir)
	if err != nil {
		return err
	}
	lock, err := AcquireLock(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	node, err := open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	listener, err := listenSocket(ctx, dir)
	if err != nil {
		return err
	}
	defer listener.remove()
	return serveNode(ctx, config, dir, node, listener)
}

func serveNode(ctx context.Context, config Config, dir string, node Node, listener *socket) error {
	// Calls and work outlive ctx: its end begins the drain, it does not cut anything off.
	calls, endCalls := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endCalls(nil)
	work, endWork := context.WithCancel(context.WithoutCancel(ctx))
	defer endWork()

	if !config.Passive {
		if err := node.Start(work); err != nil {
			listener.Close()
			return err
		}
	}
	server := newServer(calls, node.Handler(), config.Log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if config.Ready != nil {
		config.Ready(Serving{Dir: dir, Socket: listener.path})
	}
	var failed <-chan error
	if failer, ok := node.(Failer); ok {
		failed = failer.Failed()
	}

	var failure error
	select {
	case <-ctx.Done():
		failure = drain(ctx, config, node)
	case failure = <-failed: // nothing more can be made durable, so nothing is drained
	case err := <-served:
		endCalls(errGoing)
		listener.Close()
		return errors.Join(fault("serve the socket", err), drain(ctx, config, node))
	}
	endWork()
	endCalls(errGoing)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		config.Log.Warn("calls were cut off", "error", err)
		_ = server.Close() // what is left is cut off; there is nothing to report but that
	}
	<-served
	return failure
}

func drain(ctx context.Context, config Config, node Node) error {
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), config.DrainTimeout)
	defer cancel()
	pending, err := node.Drain(limit)
	if err == nil && config.Drained != nil {
		config.Drained(pending)
	}
	return err
}

func newServer(calls context.Context, handler http.Handler, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // gRPC clients speak HTTP/2 from the first byte
	return &http.Server{
		Handler:           api.Local(uint32(os.Geteuid()), handler),
		Protocols:         protocols,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return calls },
		ConnContext:       withPeer,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
