package provider

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	abi "github.com/writ-kernel/writ/abi/provider"
	"github.com/writ-kernel/writ/abi/reason"
)

// process is one running adapter and the connection to it.
type process struct {
	run    *processRunner
	plugin *plugin.Client
	client *abi.LocalModelClient
}

// startProcess launches, shakes hands and connects. Whatever it is waiting for when ctx ends, it
// kills the process and returns.
func startProcess(ctx context.Context, b *binary, timeout time.Duration, log *slog.Logger) (*process, error) {
	file, err := b.open()
	if err != nil {
		return nil, err
	}
	defer file.Close() // the running process keeps its own hold of the file
	diagnostics := newDiagnostics(log)
	run := newRunner(b.name, file, diagnostics)
	p := &process{run: run, plugin: plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  abi.Handshake,
		Plugins:          abi.Plugins(nil),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         true,
		SkipHostEnv:      true,
		StartTimeout:     timeout,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: b.dir},
		Logger:           hclog.NewNullLogger(), // errors come back as values, diagnostics through run
		SyncStdout:       io.Discard,
		SyncStderr:       diagnostics,
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, socketDir string) (runner.Runner, error) {
			run.prepare(cmd.Env, socketDir)
			return run, nil
		},
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(abi.MaxMessageBytes), grpc.MaxCallSendMsgSize(abi.MaxMessageBytes)),
			grpc.WithMaxHeaderListSize(abi.MaxHeaderBytes),
			grpc.WithDisableRetry(),
			grpc.WithDisableServiceConfig(),
			grpc.WithStreamInterceptor(onlyDiagnostics),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return run.dial(ctx) }),
		},
	})}
	defer context.AfterFunc(ctx, run.kill)()
	if err := p.connect(); err != nil {
		p.stop()
		if _, typed := reason.As(err); typed {
			return nil, err
		}
		return nil, reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "the adapter did not start: %s", quoted(err.Error()))
	}
	return p, nil
}

func (p *process) connect() error {
	protocol, err := p.plugin.Client()
	if err != nil {
		return err
	}
	client, err := protocol.Dispense(abi.KindLocalModel)
	if err != nil {
		return err
	}
	p.client = client.(*abi.LocalModelClient)
	return nil
}

// onlyDiagnostics keeps the library's callback broker shut: a local model calls nobody back, and
// the broker would let an adapter make the host hold state without bound. Its stream of standard
// error is all that is left; that one may fail without failing the connection.
func onlyDiagnostics(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if method != "/plugin.GRPCStdio/StreamStdio" {
		return nil, status.Error(codes.Unimplemented, "no callbacks")
	}
	stream, err := streamer(ctx, desc, conn, method, opts...)
	if err != nil {
		return nil, status.Error(codes.Unavailable, "no diagnostics")
	}
	return stream, nil
}

// during is ctx for as long as the process lives.
func (p *process) during(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.run.life, cancel)
	return ctx, func() { stop(); cancel() }
}

func (p *process) ended() bool { return p.run.life.Err() != nil }

// stop kills the process and its group and returns when they and the connection are gone. There is
// nothing to ask politely: an adapter keeps no state worth saving, and one that hangs would not
// answer.
func (p *process) stop() {
	p.run.kill()
	if p.run.launched() {
		<-p.run.life.Done()
	}
	p.plugin.Kill() // closes the connection and waits for the library's own goroutines
}
