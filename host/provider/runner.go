package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	plugin "github.com/hashicorp/go-plugin"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// pipeDelay is how long an ended adapter's pipes may stay open in processes that left its group.
const pipeDelay = time.Second

// processRunner is the library's runner with the process kept on a short lead: it decides what the
// process is given, which socket may be dialled and how everything ends.
type processRunner struct {
	cmd    *exec.Cmd
	name   string
	first  *firstLine
	life   context.Context // ends when the process is gone and reaped
	gone   context.CancelFunc
	dir    string // working directory and place of the socket
	socket string // set by the handshake

	mu      sync.Mutex
	started bool
	reaped  bool
	killed  bool
}

func newRunner(name string, file *os.File, stderr io.Writer) *processRunner {
	r := &processRunner{name: name, first: newFirstLine()}
	r.life, r.gone = context.WithCancel(context.Background())
	r.cmd = &exec.Cmd{
		Path:        executable(file),
		Args:        []string{name},
		Stdout:      r.first,
		Stderr:      stderr,
		SysProcAttr: processAttributes(),
		WaitDelay:   pipeDelay,
	}
	return r
}

// Variables of the handshake. Everything else the library or a later version of it adds stays out.
var handshakeVariables = []string{
	"WRIT_PROVIDER_ADAPTER", "PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_CLIENT_CERT",
}

// prepare takes over the handshake variables. The socket directory is given as the working
// directory, so that a long path never meets the 108 bytes of a socket address on the adapter's
// side and the adapter learns no path of the host.
func (r *processRunner) prepare(env []string, socketDir string) {
	r.dir = socketDir
	r.cmd.Dir = socketDir
	r.cmd.Env = []string{plugin.EnvUnixSocketDir + "=."}
	for _, name := range handshakeVariables {
		for _, entry := range env {
			if strings.HasPrefix(entry, name+"=") {
				r.cmd.Env = append(r.cmd.Env, entry)
			}
		}
	}
}

// Start launches the process from a thread that stays until the process is gone: the kernel sends
// the parent-death signal when the thread that forked ends, not when the process does.
func (r *processRunner) Start(context.Context) error {
	launched := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := r.fork()
		launched <- err
		if err != nil {
			return
		}
		if awaitExit(r.cmd.Process.Pid) {
			// Not reaped yet, so the number still names this very group and no other.
			r.kill()
			r.setReaped()
		}
		_ = r.cmd.Wait()
		r.setReaped()
		r.first.close()
		r.gone()
	}()
	return <-launched
}

func (r *processRunner) fork() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed {
		return errors.New("given up before it started")
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	r.started = true
	return nil
}

func (r *processRunner) setReaped() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reaped = true
}

func (r *processRunner) launched() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.started
}

// kill ends the whole process group. It is harmless at any time.
func (r *processRunner) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed = true
	if r.started && !r.reaped {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// PluginToHost accepts the address of the handshake: a socket right in the private directory.
func (r *processRunner) PluginToHost(network, address string) (string, string, error) {
	name := strings.TrimPrefix(address, "./")
	if network != "unix" || name == "" || name != filepath.Base(name) {
		return "", "", refusedAddress(network, address)
	}
	r.socket = filepath.Join(r.dir, name)
	if err := r.checkSocket(); err != nil {
		return "", "", refusedAddress(network, address)
	}
	return network, r.socket, nil
}

func refusedAddress(network, address string) error {
	return reason.New(writv1.Reason_REASON_PLUGIN_FAILED,
		"the adapter named the address %s %s, which is no socket in its own directory", quoted(network), quoted(address))
}

// checkSocket refuses links, which would lead a dial to a socket elsewhere.
func (r *processRunner) checkSocket() error {
	info, err := os.Lstat(r.socket)
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSocket {
		return errors.New("not a socket")
	}
	return nil
}

// dial connects to the adapter's socket, which is looked at again each time.
func (r *processRunner) dial(ctx context.Context) (net.Conn, error) {
	if err := r.checkSocket(); err != nil {
		return nil, err
	}
	path, done, err := shortPath(r.socket)
	if err != nil {
		return nil, err
	}
	defer done()
	return new(net.Dialer).DialContext(ctx, "unix", path)
}

// maxSocketPath is what a socket address holds everywhere.
const maxSocketPath = 103

// The rest is what the library asks of a runner.

func (r *processRunner) HostToPlugin(network, address string) (string, string, error) {
	return "", "", fmt.Errorf("no callback address is given to adapters")
}

func (r *processRunner) Wait(context.Context) error {
	<-r.life.Done()
	return nil
}

func (r *processRunner) Kill(context.Context) error {
	r.kill()
	return nil
}

func (r *processRunner) ID() string {
	if !r.launched() {
		return ""
	}
	return strconv.Itoa(r.cmd.Process.Pid)
}

func (r *processRunner) Name() string { return r.name }

// Stdout is the handshake line and nothing after it.
func (r *processRunner) Stdout() io.ReadCloser { return io.NopCloser(r.first) }

// Stderr is empty for the library; diagnostics took the real one. It ends with the process.
func (r *processRunner) Stderr() io.ReadCloser { return io.NopCloser(untilDone{r.life}) }

func (r *processRunner) Diagnose(context.Context) string { return "" }
