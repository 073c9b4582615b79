package store

import (
	"context"
	"sync"
	"sync/atomic"
)

// request is one Update on its way through the committer.
type request struct {
	ctx  context.Context
	run  func(Tx) error
	done chan error // holds one answer

	// claimed is won either by the committer, which then owes the real outcome, or by a caller whose
	// context ended first, whose transition then never runs.
	claimed atomic.Bool

	// The committer alone uses these.
	taken    bool
	answered bool
	err      error
}

func (r *request) answer(err error) {
	if !r.answered {
		r.answered = true
		r.done <- err
	}
}

// take reports whether the transition may run. Once taken it may run again without asking.
func (r *request) take() bool {
	if r.taken {
		return true
	}
	if !r.claimed.CompareAndSwap(false, true) {
		return false
	}
	r.taken = true
	if err := r.ctx.Err(); err != nil {
		r.answer(err)
		return false
	}
	return true
}

// queue is unbounded because every entry is a blocked caller.
type queue struct {
	mu     sync.Mutex
	items  []*request
	closed error
	wake   chan struct{}
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

func (q *queue) push(r *request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed != nil {
		return q.closed
	}
	q.items = append(q.items, r)
	q.signal()
	return nil
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// poll takes all that is queued.
func (q *queue) poll() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items = nil
	return items
}

// wait is poll that blocks until there is something; it returns nil once the queue is closed.
func (q *queue) wait() []*request {
	for {
		if items := q.poll(); len(items) > 0 {
			return items
		}
		if q.state() != nil {
			return nil
		}
		<-q.wake
	}
}

func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// state is nil while the queue is open, otherwise the error that it was first closed with.
func (q *queue) state() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// close refuses everything queued and everything that comes.
func (q *queue) close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed == nil {
		q.closed = err
	}
	for _, r := range q.items {
		if r.claimed.CompareAndSwap(false, true) {
			r.answer(q.closed)
		}
	}
	q.items = nil
	q.signal()
}
