package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/client"
	"github.com/writ-kernel/writ/host/daemon"
)

// mode is how a command uses a data directory that no one serves.
type mode struct {
	// create makes the directory; without it an absent one is refused.
	create bool
	// passive serves without driving work, so that looking contacts no provider.
	passive bool
}

const (
	// holderPatience is how long a command waits for a holder that does not answer yet or any more.
	holderPatience = time.Minute
	// maxLosses bounds how often in a row a call is made again after its server went away.
	maxLosses  = 8
	retryFirst = 20 * time.Millisecond
	retryMost  = time.Second
)

// session is one command's way to the kernel, through whoever holds the data directory.
type session struct {
	app    *app
	dir    string
	mode   mode
	client *client.Client
	local  *localServer
	losses int // in a row
}

var errLocalEnded = reason.New(writv1.Reason_REASON_INTERNAL, "this process can no longer serve the data directory")

// localServer is this process as the holder.
type localServer struct {
	stop    context.CancelFunc
	ended   chan struct{}
	err     error    // valid once ended
	pending []string // valid once ended
}

func (a *app) session(m mode) (*session, error) {
	dir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	return &session{app: a, dir: dir, mode: m}, nil
}

// do makes a call, and makes it again with the next holder when the one it was sent to goes away.
// Calls that change something carry an idempotency key, so nothing happens twice.
func (s *session) do(ctx context.Context, call func(*client.Client) error) error {
	for {
		if err := s.connect(ctx); err != nil {
			return err
		}
		err := call(s.client)
		if !client.Lost(err) {
			s.losses = 0
			return err
		}
		s.losses++
		if s.losses > maxLosses {
			return err
		}
		s.client.Close()
		s.client = nil
		if err := wait(ctx, backoff(s.losses)); err != nil {
			return err
		}
	}
}

// connect finds the holder or becomes it. Between two holders a directory is locked and silent for a
// moment, which is waited for.
func (s *session) connect(ctx context.Context) error {
	if s.client != nil {
		return nil
	}
	for attempt, start := 1, time.Now(); ; attempt++ {
		found, err := client.Dial(ctx, s.dir)
		if err == nil {
			s.client = found
			return nil
		}
		absent := reason.Is(err, writv1.Reason_REASON_NOT_FOUND)
		if !daemon.Unserved(err) && !absent || absent && !s.mode.create {
			return err
		}
		if s.local != nil { // it closed its socket by itself, so it is ending: its store is lost
			<-s.local.ended
			return errors.Join(errLocalEnded, s.local.err)
		}
		err = s.serve(ctx)
		if err != nil && !reason.Is(err, writv1.Reason_REASON_STORE_HELD) {
			return err
		}
		if err != nil && time.Since(start) > holderPatience {
			return err
		}
		if err != nil {
			if err := wait(ctx, backoff(attempt)); err != nil {
				return err
			}
		}
	}
}

// serve makes this process the holder.
func (s *session) serve(ctx context.Context) error {
	// The server outlives an interrupt: it ends by close, after the drain.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	local := &localServer{stop: stop, ended: make(chan struct{})}
	ready := make(chan struct{})
	log := slog.New(slog.NewJSONHandler(s.app.stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	go func() {
		defer close(local.ended)
		local.err = daemon.Serve(serving, daemon.Config{
			DataDir: s.dir, Passive: s.mode.passive, Log: log,
			Ready:   func(daemon.Serving) { close(ready) },
			Drained: func(pending []string) { local.pending = pending },
		}, func(dir string) (daemon.Node, error) { return s.app.open(dir, log) })
	}()
	select {
	case <-ready:
		s.local = local
		return nil
	case <-local.ended:
		stop()
		return local.err
	}
}

// close drains what this process served and says what it leaves behind. An operation that settled
// is the caller's result already and is not named again.
func (s *session) close() error {
	if s.client != nil {
		s.client.Close()
	}
	if s.local == nil {
		return nil
	}
	s.local.stop()
	<-s.local.ended
	if pending := s.local.pending; len(pending) > 0 && !s.mode.passive {
		slices.Sort(pending)
		s.app.say("still pending, and kept: %s", joinIDs(pending))
		s.app.say("Continue with: writ ops resume --data %s", shellWord(s.dir))
	}
	return s.local.err
}

func backoff(attempt int) time.Duration {
	return min(retryFirst<<min(attempt-1, 10), retryMost)
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// resolved is the data directory as paths are shown: absolute, through links.
func (s *session) resolved() string {
	if dir, err := daemon.CheckDataDir(s.dir); err == nil {
		return dir
	}
	return s.dir
}

// firstError is the command's own error, or else that of ending its session.
func firstError(err, closing error) error {
	if err != nil {
		return err
	}
	return closing
}
