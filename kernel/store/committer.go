package store

import (
	"context"
	"sync"
	"sync/atomic"
)

// Committer is the Store over one engine. The engine belongs to it.
type Committer struct {
	engine   Engine
	limits   Limits
	time     timeline
	queue    *queue
	onPoison func(error)

	// Only the committer goroutine touches these two.
	work  []*request // what it is working on
	cause error      // what poisoned the store

	done chan struct{} // closed when the committer goroutine has ended

	mu      sync.Mutex
	changed chan struct{}
	poison  error // set once, by a commit of unknown outcome
	closing bool
	views   sync.WaitGroup // grows under mu while closing is false

	closeOnce sync.Once
	closeErr  error

	commits, transitions atomic.Uint64
}

var _ Store = (*Committer)(nil)

// Option changes how Open sets up a Committer.
type Option func(*Committer)

// OnPoison has fn called once, with the engine's error, after a commit of unknown outcome. By then
// every caller has been answered. The process must exit: fn is where a host does that.
func OnPoison(fn func(cause error)) Option {
	return func(c *Committer) { c.onPoison = fn }
}

// Open starts the committer of an engine. The engine is the committer's from here on and is closed
// with it, or by Open itself when Open fails.
func Open(engine Engine, clock Clock, opts ...Option) (*Committer, error) {
	c := &Committer{
		engine:   engine,
		queue:    newQueue(),
		onPoison: func(error) {},
		done:     make(chan struct{}),
		changed:  make(chan struct{}),
	}
	for _, opt := range opts {
		opt(c)
	}
	// Every batch that writes carries the clock row too.
	c.limits = engine.Limits()
	c.limits.Bytes -= clockCost
	c.limits.Writes--
	var stored int64
	err := engine.View(func(r Reader) (err error) {
		stored, err = readClock(r)
		return err
	})
	if err != nil {
		_ = engine.Close()
		return nil, err
	}
	c.time.start(clock, stored)
	go c.run()
	return c, nil
}

// View implements Store.
func (c *Committer) View(ctx context.Context, fn func(Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.enter(); err != nil {
		return err
	}
	defer c.views.Done()
	err := c.engine.View(func(r Reader) error { return fn(visible{r}) })
	if poison := c.poisoned(); poison != nil {
		return poison
	}
	return err
}

func (c *Committer) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.poison != nil {
		return c.poison
	}
	if c.closing {
		return ErrClosed
	}
	c.views.Add(1)
	return nil
}

// Update implements Store. A context that ends while the transition is queued takes it out of the
// queue; once it has been taken, Update waits for the real outcome. A transition must not call
// Update or Close of its own store.
func (c *Committer) Update(ctx context.Context, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx: ctx, run: fn, done: make(chan error, 1)}
	if err := c.queue.push(r); err != nil {
		if poison := c.poisoned(); poison != nil {
			return poison
		}
		return err
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		if r.claimed.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		return <-r.done
	}
}

// Changed implements Store. The channel is also closed when the store is closed or poisoned, so that
// a watcher finds out.
func (c *Committer) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// broadcast wakes the watchers and, unless the store has ended, makes them a new channel.
func (c *Committer) broadcast() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.poison == nil && !c.closing {
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// Exclusive implements Store.
func (c *Committer) Exclusive() bool { return c.engine.Exclusive() }

// Clock says how far the wall clock is believed.
func (c *Committer) Clock() ClockStatus { return c.time.read() }

// Stats are counters since Open and one gauge.
type Stats struct {
	// Commits are durable engine commits.
	Commits uint64
	// Transitions are those that were answered with their own outcome, errors included.
	Transitions uint64
	// Queued are those waiting for the batch at work to end.
	Queued int
}

// Stats reads them.
func (c *Committer) Stats() Stats {
	return Stats{c.commits.Load(), c.transitions.Load(), c.queue.size()}
}

func (c *Committer) poisoned() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.poison
}

// Close answers what is queued with ErrClosed, waits for the batch at work and for running Views,
// and closes the engine. Later calls return what the first returned.
func (c *Committer) Close() error {
	c.closeOnce.Do(func() {
		c.mu.Lock()
		c.end(func() { c.closing = true })
		c.mu.Unlock()
		c.queue.close(ErrClosed)
		<-c.done
		c.views.Wait()
		c.closeErr = c.engine.Close()
	})
	return c.closeErr
}

// end applies the change that ends the store and lets watchers go, once. mu is held.
func (c *Committer) end(change func()) {
	if c.poison == nil && !c.closing {
		close(c.changed)
	}
	change()
}
