package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/writ-kernel/writ/kernel/store"
)

// Fresh makes one empty store and returns what opens it. open is called again only after the engine
// that it returned before was closed, and then finds what was committed.
type Fresh func(t *testing.T) (open func() store.Engine)

// Run is the conformance suite of an engine under the Committer.
func Run(t *testing.T, fresh Fresh) {
	for _, group := range []struct {
		name  string
		cases []rule
	}{
		{"reads", reads},
		{"outcomes", outcomes},
		{"isolation", isolation},
		{"limits", limits},
		{"faults", faults},
		{"time", times},
		{"life", life},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.check(t, newWorld(t, fresh)) })
			}
		})
	}
}

// rule is one guarantee and its test.
type rule struct {
	name  string
	check func(t *testing.T, w *world)
}

// world is one store in one test.
type world struct {
	*store.Committer
	t      *testing.T
	faults *Faults
	clock  *Clock
	open   func() store.Engine
	poison chan error
}

var background = context.Background()

func newWorld(t *testing.T, fresh Fresh) *world {
	w := &world{t: t, open: fresh(t), faults: &Faults{}, clock: NewClock(), poison: make(chan error, 1)}
	w.start()
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func (w *world) start() {
	w.t.Helper()
	w.faults.Engine = w.open()
	s, err := store.Open(w.faults, w.clock, store.OnPoison(func(cause error) { w.poison <- cause }))
	if err != nil {
		w.t.Fatal(err)
	}
	w.Committer = s
}

// restart closes the store and opens it with other faults.
func (w *world) restart(f Faults) {
	w.t.Helper()
	if err := w.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.faults = &f
	w.start()
}

// update runs a transition that must succeed.
func (w *world) update(fn func(store.Tx) error) {
	w.t.Helper()
	if err := w.Update(background, fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) set(key, value string) {
	w.t.Helper()
	w.update(func(tx store.Tx) error { return tx.Set([]byte(key), []byte(value)) })
}

// want asserts a committed value; an empty one means absent.
func (w *world) want(key, value string) {
	w.t.Helper()
	err := w.View(background, func(r store.Reader) error {
		got, err := r.Get([]byte(key))
		if err == nil && string(got) != value {
			w.t.Errorf("%q is %q, want %q", key, got, value)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// group has the committer take all transitions in this order as one batch, provided that they fit,
// and returns their outcomes.
func (w *world) group(fns ...func(store.Tx) error) []error {
	w.t.Helper()
	wait := w.startGroup(fns...)
	return wait()
}

// startGroup queues the transitions behind one that is held until all are queued, and returns what waits
// for their outcomes.
func (w *world) startGroup(fns ...func(store.Tx) error) (wait func() []error) {
	w.t.Helper()
	held, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var all sync.WaitGroup
	all.Go(func() {
		err := w.Update(background, func(store.Tx) error {
			once.Do(func() { close(held) })
			<-release
			return nil
		})
		if err != nil && !errors.Is(err, store.ErrCommitUnknown) {
			w.t.Error(err)
		}
	})
	<-held
	outcomes := make([]error, len(fns))
	for i, fn := range fns {
		all.Go(func() { outcomes[i] = w.Update(background, fn) })
		w.queued(i + 1)
	}
	close(release)
	return func() []error {
		all.Wait()
		return outcomes
	}
}

// queued waits until n transitions wait in the queue.
func (w *world) queued(n int) {
	for w.Stats().Queued != n {
		runtime.Gosched()
	}
}

func setter(key, value string) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.Set([]byte(key), []byte(value)) }
}

func collect(into *[]string) func(key, value []byte) error {
	return func(key, value []byte) error {
		*into = append(*into, fmt.Sprintf("%s=%s", key, value))
		return nil
	}
}

func count(r store.Reader, prefix string) (n int, err error) {
	err = r.Scan([]byte(prefix), store.PrefixEnd([]byte(prefix)), func(_, _ []byte) error {
		n++
		return nil
	})
	return n, err
}

func is(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want %v", err, target)
	}
}
