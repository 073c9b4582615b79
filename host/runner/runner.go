package runner

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
)

// Config is what a runner works with.
type Config struct {
	Store    store.Store
	Jobs     *operation.Jobs
	Research *research.Research
	Policy   *policies.Policy
	Modules  Modules
	Models   Models
	Files    Files
	// Holder names this process in leases.
	Holder string
	// Parallel is how many jobs run at once.
	Parallel int
	Log      *slog.Logger
}

// Runner claims and drives jobs until it is drained.
type Runner struct {
	Config
	slots   chan struct{}
	freed   chan struct{} // a slot was given back
	running sync.WaitGroup
	stop    context.CancelFunc // ends claiming
	done    chan struct{}      // claiming has ended
}

// New makes a runner that does nothing yet.
func New(c Config) *Runner {
	return &Runner{Config: c, slots: make(chan struct{}, c.Parallel), freed: make(chan struct{}, 1), done: make(chan struct{})}
}

// Start begins to claim. work bounds the jobs themselves; Drain ends claiming and leaves them time.
func (r *Runner) Start(work context.Context) {
	claiming, stop := context.WithCancel(work)
	r.stop = stop
	go func() {
		defer close(r.done)
		r.recoverAnswers(claiming)
		r.claim(claiming, work)
	}()
}

// Drain stops claiming and waits until running jobs reached a durable boundary or ctx ended.
func (r *Runner) Drain(ctx context.Context) error {
	if r.stop == nil {
		return nil
	}
	r.stop()
	finished := make(chan struct{})
	go func() {
		<-r.done
		r.running.Wait()
		close(finished)
	}()
	select {
	case <-finished:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// claim is the loop: sweep what time has ended, take what is claimable while a slot is free, wait for a
// change. It never waits for a slot, because time goes on for jobs that nobody runs.
func (r *Runner) claim(ctx, work context.Context) {
	for {
		changed := r.Store.Changed() // before looking, so that no commit in between is missed
		due, err := r.sweep(ctx)
		if errors.Is(err, store.ErrCommitUnknown) || errors.Is(err, store.ErrClosed) {
			return
		}
		if err != nil && ctx.Err() == nil {
			r.Log.Error("sweeping failed", "error", err)
			due = time.Second
		}
		for err = nil; err == nil; {
			var again bool
			if again, err = r.take(ctx, work); !again {
				break
			}
		}
		if ctx.Err() != nil || errors.Is(err, store.ErrCommitUnknown) || errors.Is(err, store.ErrClosed) {
			return
		}
		if err != nil {
			r.Log.Error("claiming failed", "error", err)
			due = time.Second
		}
		timer := time.NewTimer(due)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-r.freed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// idle is how long the loop sleeps when nothing is due: it is woken by commits.
const idle = time.Hour

// sweep ends what time has ended and returns how long until the next of it.
func (r *Runner) sweep(ctx context.Context) (time.Duration, error) {
	type swept struct {
		next, now int64
		more      bool
	}
	limit := operation.SweepLimit
	for {
		s, err := store.Do(ctx, r.Store, func(tx store.Tx) (swept, error) {
			next, more, err := r.Jobs.Sweep(tx, limit)
			return swept{next, tx.Now(), more}, err
		})
		switch {
		case errors.Is(err, store.ErrTooLarge) && limit > 1:
			limit /= 2
			continue
		case err != nil:
			return 0, err
		case s.more:
			continue
		case s.next == 0:
			return idle, nil
		}
		return time.Duration(s.next-s.now)*time.Microsecond + time.Millisecond, nil
	}
}

// take claims one job and drives it in its own goroutine. It returns true when it is worth calling
// again at once, and false when there is no job or no slot for one.
func (r *Runner) take(ctx, work context.Context) (bool, error) {
	select {
	case r.slots <- struct{}{}:
	default:
		return false, nil
	}
	var more bool
	claimed, err := store.Do(ctx, r.Store, func(tx store.Tx) (claimed *operation.Claimed, err error) {
		claimed, more, err = r.Jobs.Claim(tx, r.Holder, func(tx store.Tx, s *guard.Scope) error { return r.Research.Bind(tx, s) })
		return claimed, err
	})
	if err != nil || claimed == nil {
		<-r.slots
		return more && err == nil, err
	}
	r.running.Go(func() {
		defer r.free()
		r.drive(work, claimed)
	})
	return true, nil
}

func (r *Runner) free() {
	<-r.slots
	select {
	case r.freed <- struct{}{}:
	default: // the loop has yet to notice an earlier one
	}
}
