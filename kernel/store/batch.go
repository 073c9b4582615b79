package store

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"
)

const (
	// maxMembers bounds a batch of transitions that write little, so that the first of them is not
	// kept waiting by a stream of newcomers.
	maxMembers = 1024
	// A batch that met a conflict is run again whole this often, then one by one.
	wholeTries = 3
	// A transition that runs alone is given up as busy after this many conflicts more.
	soloTries = 8
	// Pause after the n-th conflict: a random part of n times this.
	pauseStep = 2 * time.Millisecond
)

// run is the committer goroutine.
func (c *Committer) run() {
	ended := false
	defer func() {
		if ended {
			close(c.done)
			if c.cause != nil {
				c.onPoison(c.cause)
			}
			return
		}
		// A transition left the goroutine with runtime.Goexit. It has been answered; its batch was
		// discarded before the commit, and a new goroutine runs the others again.
		go c.run()
	}()
	c.settle()
	for {
		c.work = c.queue.wait()
		if c.work == nil {
			ended = true
			return
		}
		// Callers just answered are about to ask again: let them, so that they share this batch.
		runtime.Gosched()
		c.settle()
	}
}

// settle answers everything in work.
func (c *Committer) settle() {
	for conflicts := 0; len(c.work) > 0; {
		most := maxMembers
		if conflicts >= wholeTries {
			most = 1
		}
		ran, err := c.try(most)
		switch {
		case err == nil:
			for _, r := range c.work[:ran] {
				if !r.answered {
					c.transitions.Add(1)
				}
				r.answer(r.err)
			}
			c.work = c.work[ran:]
			conflicts = 0
		case errors.Is(err, ErrConflict):
			if conflicts++; conflicts >= wholeTries+soloTries {
				c.work[0].answer(errBusy())
				c.work = c.work[1:]
				conflicts = wholeTries
				continue
			}
			time.Sleep(rand.N(time.Duration(conflicts) * pauseStep))
		default:
			c.fail(err)
			return
		}
	}
}

// try runs up to most transitions from the front of work and commits what they wrote. It returns how
// many it has dealt with: each of those has its outcome in err, to be answered if the commit went
// well. It stops before a transition that no longer fits; that one starts the next batch.
func (c *Committer) try(most int) (ran int, err error) {
	batch, err := c.engine.Begin()
	if err != nil {
		if !errors.Is(err, ErrConflict) {
			c.work[0].err = err
			return 1, nil
		}
		return 0, err
	}
	defer batch.Discard()
	var written overlay
	state := overlaid{batch, &written}
	floor := int64(0)
	if !c.engine.Exclusive() {
		// Another node may have handed out later times than this one.
		if floor, err = readClock(batch); err != nil {
			if errors.Is(err, ErrConflict) {
				return 0, err
			}
			c.work[0].err = err
			return 1, nil
		}
	}
	last := int64(0)
	for ; ran < most; ran++ {
		if ran == len(c.work) {
			more := c.queue.poll()
			if len(more) == 0 {
				break
			}
			c.work = append(c.work, more...)
		}
		r := c.work[ran]
		if r.answered || !r.take() {
			r.answered = true
			continue
		}
		t := newTx(state, c.time.next(floor), c.limits)
		r.err = c.transition(r, t)
		if errors.Is(t.failed, ErrConflict) {
			return ran, t.failed
		}
		if r.err != nil || len(t.own.rows) == 0 {
			continue
		}
		if bytes, rows := written.sizeWith(&t.own); bytes > c.limits.Bytes || rows > c.limits.Writes {
			break
		}
		written.merge(&t.own)
		last = t.now
	}
	if len(written.rows) == 0 {
		return ran, nil
	}
	written.put(clockRow(last))
	if err := c.commit(batch, written.rows); err != nil {
		return ran, err
	}
	c.commits.Add(1)
	c.broadcast()
	return ran, nil
}

// transition runs one transition and contains what it does.
func (c *Committer) transition(r *request, t *tx) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		if v != nil {
			err = &PanicError{v, debug.Stack()}
			return
		}
		r.answer(&PanicError{"the transition left its goroutine", debug.Stack()})
	}()
	err = r.run(t)
	returned = true
	if err == nil {
		err = t.failed
	}
	return err
}

// commit turns a panic of the engine into what it is: an unknown outcome.
func (c *Committer) commit(batch Batch, rows []Write) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return batch.Commit(rows)
}

// fail ends the store after a commit of unknown outcome.
func (c *Committer) fail(cause error) {
	unknown := errUnknown()
	c.mu.Lock()
	c.end(func() { c.poison = unknown })
	c.mu.Unlock()
	c.queue.close(unknown)
	for _, r := range c.work {
		if r.take() {
			r.answer(unknown)
		}
	}
	c.work = nil
	c.cause = cause
}
