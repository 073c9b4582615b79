package providertest

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/research"
)

// ImportPath is the adapter's main package, for a test build's list of extra plugins.
const ImportPath = "github.com/writ-kernel/writ/host/provider/providertest/countingadapter"

// Call is one request that reached the server. Seq counts from 1 over all calls; Task is the
// payload's task, zero when the payload is no prompt.
type Call struct {
	Seq           int
	CallID        string
	PayloadSHA256 string
	Payload       []byte
	Task          research.Task
}

// Answer is what the server does with one call.
type Answer struct {
	Text   []byte
	Finish string
	Charge string
	// Delay passes before the answer.
	Delay time.Duration
	// Hold keeps the call waiting until Release or Close.
	Hold bool
	// Cut ends the connection in the middle of the answer.
	Cut bool
}

// Server counts calls over a real unix socket. Its methods may be called from any goroutine.
type Server struct {
	dir      string
	listener net.Listener
	script   func(Call) Answer
	wg       sync.WaitGroup
	closing  chan struct{}

	mu      sync.Mutex
	calls   []Call
	release chan struct{}
	arrived chan struct{} // closed and replaced at each call
}

// NewServer listens and answers each call as script says; nil means Good. It is closed with the
// test.
func NewServer(t testing.TB, script func(Call) Answer) *Server {
	t.Helper()
	if script == nil {
		script = Good
	}
	dir, err := os.MkdirTemp("", "writ") // short, because a socket address is
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "far-end"))
	if err != nil {
		os.RemoveAll(dir)
		t.Fatal(err)
	}
	s := &Server{dir: dir, listener: listener, script: script,
		closing: make(chan struct{}), release: make(chan struct{}), arrived: make(chan struct{})}
	s.wg.Go(s.serve)
	t.Cleanup(s.close)
	return s
}

// Model is the model name that leads the adapter here.
func (s *Server) Model() string { return ModelPrefix + s.listener.Addr().String() }

// Calls lists every call so far, in order of arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// ByPayload counts calls by payload digest. More than one of any is a second contact.
func (s *Server) ByPayload() map[string]int {
	return s.count(func(c Call) string { return c.PayloadSHA256 })
}

// ByCall counts calls by call ID.
func (s *Server) ByCall() map[string]int {
	return s.count(func(c Call) string { return c.CallID })
}

func (s *Server) count(key func(Call) string) map[string]int {
	out := map[string]int{}
	for _, c := range s.Calls() {
		out[key(c)]++
	}
	return out
}

// Wait returns once n calls have arrived, or false when timeout passes first.
func (s *Server) Wait(n int, timeout time.Duration) bool {
	deadline := time.After(timeout)
	for {
		s.mu.Lock()
		have, arrived := len(s.calls), s.arrived
		s.mu.Unlock()
		if have >= n {
			return true
		}
		select {
		case <-arrived:
		case <-deadline:
			return false
		}
	}
}

// Release lets every held call go on, and every later one.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.release:
	default:
		close(s.release)
	}
}

func (s *Server) close() {
	close(s.closing)
	s.listener.Close()
	s.wg.Wait()
	os.RemoveAll(s.dir)
}

func (s *Server) serve() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			defer conn.Close()
			stop := make(chan struct{})
			defer close(stop)
			s.wg.Go(func() { // a caller that sends half a request must not hold up close
				select {
				case <-s.closing:
					conn.Close()
				case <-stop:
				}
			})
			s.handle(conn)
		})
	}
}

func (s *Server) handle(conn net.Conn) {
	var req Request
	if json.NewDecoder(io.LimitReader(conn, MaxReplyBytes)).Decode(&req) != nil {
		return
	}
	answer := s.script(s.record(req))
	if !s.pause(answer) {
		return
	}
	raw, err := json.Marshal(Reply{Text: answer.Text, Finish: answer.Finish, Charge: answer.Charge})
	if err != nil {
		return
	}
	if answer.Cut {
		raw = raw[:len(raw)/2]
	}
	_, _ = conn.Write(raw)
}

// record counts before anything is answered: what arrived, arrived. The digest is the server's own
// reckoning over the bytes it got.
func (s *Server) record(req Request) Call {
	task, _ := research.ParsePrompt(req.Payload)
	s.mu.Lock()
	defer s.mu.Unlock()
	call := Call{Seq: len(s.calls) + 1, CallID: req.CallID, PayloadSHA256: canon.Digest(req.Payload), Payload: req.Payload, Task: task}
	s.calls = append(s.calls, call)
	close(s.arrived)
	s.arrived = make(chan struct{})
	return call
}

// pause reports whether the answer is still wanted.
func (s *Server) pause(answer Answer) bool {
	if answer.Hold {
		select {
		case <-s.release:
		case <-s.closing:
			return false
		}
	}
	timer := time.NewTimer(answer.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.closing:
		return false
	}
}
