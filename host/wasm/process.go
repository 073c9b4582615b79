package wasm

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// workerName is argument 0 of a worker: with the socket at descriptor 3 it makes this binary one.
const workerName = "writ-wasm-worker"

const maxStderr = 4 << 10

// process is the host's end of one worker.
type process struct {
	conn   net.Conn
	proc   *os.Process
	loaded map[string]bool // digests the worker has compiled
	engine string
	stderr head
	once   sync.Once
	done   chan struct{} // closed once the process is reaped and its stderr read to the end
}

func startProcess(l *launcher, c Config) (*process, error) {
	if os.Args[0] == workerName {
		return nil, errors.New("a worker does not start workers: main must call wasm.WorkerMain first")
	}
	path := c.Executable
	if path == "" {
		var err error
		if path, err = executable(); err != nil {
			return nil, err
		}
	}
	conn, remote, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer remote.Close()
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		conn.Close()
		return nil, err
	}
	defer errWrite.Close()
	proc, err := l.start(path, []string{workerName}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{},                             // not nil, which would mean this process's own
		Files: []*os.File{nil, nil, errWrite, remote}, // stdin and stdout are closed
		Sys:   workerAttr(),
	})
	if err != nil {
		conn.Close()
		errRead.Close()
		return nil, err
	}
	p := &process{conn: conn, proc: proc, loaded: map[string]bool{}, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_, _ = io.Copy(&p.stderr, errRead) // ends when the worker's end closes
		errRead.Close()
		_, _ = proc.Wait()
	}()
	if err := writeFrame(conn, frameHello, hello{CacheDir: c.CacheDir}); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// kill ends the worker at once and waits for nothing.
func (p *process) kill() {
	p.once.Do(func() {
		_ = p.proc.Kill()
		p.conn.Close()
	})
}

func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// lastWords is what a worker that is dying by itself wrote to stderr.
func (p *process) lastWords() string {
	select {
	case <-p.done:
	case <-time.After(200 * time.Millisecond):
	}
	return p.stderr.String()
}

func socketPair() (net.Conn, *os.File, error) {
	// The lock keeps a process that is started meanwhile from inheriting the descriptors.
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	local := os.NewFile(uintptr(fds[0]), "worker")
	defer local.Close()
	remote := os.NewFile(uintptr(fds[1]), "worker")
	conn, err := net.FileConn(local)
	if err != nil {
		remote.Close()
		return nil, nil, err
	}
	return conn, remote, nil
}

// head keeps the first bytes written to it and drops the rest: the first line of a crash is the one
// that says why.
type head struct {
	mu sync.Mutex
	b  []byte
}

func (t *head) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, clip(p, maxStderr-len(t.b))...)
	return len(p), nil
}

func (t *head) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return escape(t.b)
}
