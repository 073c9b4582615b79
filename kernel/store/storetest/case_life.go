package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/writ-kernel/writ/kernel/store"
)

var life = []rule{
	{"what was answered is there after a restart", func(t *testing.T, w *world) {
		const callers, each = 8, 20
		w.set("deleted", "1")
		w.update(func(tx store.Tx) error { return tx.Delete([]byte("deleted")) })
		w.race(callers, func(i int) error {
			for j := range each {
				if err := w.Update(background, setter(fmt.Sprintf("%d/%d", i, j), "x")); err != nil {
					return err
				}
			}
			return nil
		}, nil)
		for range 2 {
			w.restart(Faults{})
			w.want("deleted", "")
			err := w.View(background, func(r store.Reader) error {
				n := 0
				err := r.Scan(nil, nil, func(_, _ []byte) error { n++; return nil })
				if n != callers*each {
					t.Errorf("%d rows, want %d", n, callers*each)
				}
				return err
			})
			is(t, err, nil)
		}
	}},
	{"Changed is closed by a commit and by nothing less", func(t *testing.T, w *world) {
		changed := w.Changed()
		w.update(func(store.Tx) error { return nil })
		_ = w.Update(background, func(tx store.Tx) error {
			return errors.Join(tx.Set([]byte("a"), []byte("1")), errors.New("refused"))
		})
		select {
		case <-changed:
			t.Error("closed without a commit")
		default:
		}
		w.set("a", "1")
		<-changed
		again := w.Changed()
		select {
		case <-again:
			t.Error("a new channel is closed already")
		default:
		}
		w.set("a", "2")
		<-again
	}},
	{"Close answers the queue, finishes the batch at work and waits for Views", func(t *testing.T, w *world) {
		changed := w.Changed()
		held, release := make(chan struct{}), make(chan struct{})
		viewing, look := make(chan struct{}), make(chan struct{})
		first, second, view := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() {
			first <- w.Update(background, func(tx store.Tx) error {
				close(held)
				<-release
				return tx.Set([]byte("a"), []byte("1"))
			})
		}()
		<-held
		go func() {
			view <- w.View(background, func(r store.Reader) error {
				close(viewing)
				<-look
				_, err := r.Get([]byte("a"))
				return err
			})
		}()
		<-viewing
		go func() { second <- w.Update(background, setter("b", "1")) }()
		w.queued(1)
		var closing sync.WaitGroup
		for range 2 {
			closing.Go(func() { is(t, w.Close(), nil) })
		}
		is(t, <-second, store.ErrClosed)
		<-changed
		is(t, w.Update(background, setter("c", "1")), store.ErrClosed)
		is(t, w.View(background, func(store.Reader) error { return nil }), store.ErrClosed)
		close(release)
		is(t, <-first, nil)
		close(look)
		is(t, <-view, nil)
		closing.Wait()
		w.restart(Faults{})
		w.want("a", "1")
		w.want("b", "")
	}},
	{"a broken clock row refuses to open", func(t *testing.T, w *world) {
		is(t, w.Close(), nil)
		engine := w.open()
		batch, err := engine.Begin()
		is(t, err, nil)
		is(t, batch.Commit([]store.Write{{Key: []byte("\x00sys/clock"), Value: []byte("x")}}), nil)
		batch.Discard()
		if _, err := store.Open(engine, w.clock); err == nil {
			t.Fatal("opened")
		}
		engine = w.open() // Open closed the engine, or this could not be
		is(t, engine.Close(), nil)
	}},
}
