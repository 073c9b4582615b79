package storetest

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-kernel/writ/kernel/store"
)

var outcomes = []rule{
	{"an error writes nothing", func(t *testing.T, w *world) {
		refused := errors.New("refused")
		err := w.Update(background, func(tx store.Tx) error {
			return errors.Join(tx.Set([]byte("a"), []byte("1")), refused)
		})
		is(t, err, refused)
		w.want("a", "")
	}},
	{"a transition that fails leaves its batch mates untouched", func(t *testing.T, w *world) {
		refused := errors.New("refused")
		w.set("old", "1")
		before := w.Stats().Commits
		spoil := func(end func() error) func(store.Tx) error {
			return func(tx store.Tx) error {
				return errors.Join(tx.Set([]byte("mine"), []byte("x")), tx.Set([]byte("b"), []byte("x")),
					tx.Delete([]byte("old")), end())
			}
		}
		got := w.group(
			setter("a", "1"),
			spoil(func() error { return refused }),
			spoil(func() error { panic("boom") }),
			setter("b", "2"),
			func(tx store.Tx) error {
				v, err := tx.Get([]byte("b"))
				if string(v) != "2" {
					t.Errorf("b is %q", v)
				}
				return err
			})
		is(t, got[0], nil)
		is(t, got[1], refused)
		is(t, got[2], store.ErrPanic)
		is(t, got[3], nil)
		is(t, got[4], nil)
		w.want("a", "1")
		w.want("b", "2")
		w.want("old", "1")
		w.want("mine", "")
		if n := w.Stats().Commits - before; n != 1 {
			t.Errorf("%d commits for one batch", n)
		}
	}},
	{"a transition that leaves its goroutine leaves its batch mates untouched", func(t *testing.T, w *world) {
		got := w.group(
			setter("a", "1"),
			func(tx store.Tx) error {
				if err := tx.Set([]byte("b"), []byte("1")); err != nil {
					return err
				}
				runtime.Goexit()
				return nil
			},
			setter("c", "1"))
		is(t, got[0], nil)
		is(t, got[1], store.ErrPanic)
		is(t, got[2], nil)
		w.want("a", "1")
		w.want("b", "")
		w.want("c", "1")
	}},
	{"a refused write fails the transition even when its error is swallowed", func(t *testing.T, w *world) {
		for name, write := range map[string]func(store.Tx) error{
			"empty key":       func(tx store.Tx) error { return tx.Set(nil, []byte("x")) },
			"long key":        func(tx store.Tx) error { return tx.Set([]byte(strings.Repeat("k", store.MaxKey+1)), []byte("x")) },
			"empty value":     func(tx store.Tx) error { return tx.Set([]byte("k"), nil) },
			"reserved key":    func(tx store.Tx) error { return tx.Set([]byte("\x00sys/clock"), []byte("x")) },
			"reserved delete": func(tx store.Tx) error { return tx.Delete([]byte("\x00sys/clock")) },
		} {
			err := w.Update(background, func(tx store.Tx) error {
				if err := write(tx); !errors.Is(err, store.ErrInvalid) {
					t.Errorf("%s: %v", name, err)
				}
				_ = tx.Set([]byte("a"), []byte("1"))
				return nil
			})
			is(t, err, store.ErrInvalid)
		}
		w.want("a", "")
	}},
	{"reserved rows are hidden", func(t *testing.T, w *world) {
		w.set("a", "1")
		check := func(r store.Reader) error {
			n, err := count(r, "\x00sys/")
			v, err2 := r.Get([]byte("\x00sys/clock"))
			if n != 0 || v != nil {
				t.Errorf("%d rows and clock %x are visible", n, v)
			}
			all := 0
			err3 := r.Scan(nil, nil, func(_, _ []byte) error { all++; return nil })
			if all != 1 {
				t.Errorf("%d rows, want 1", all)
			}
			return errors.Join(err, err2, err3)
		}
		w.update(func(tx store.Tx) error { return check(tx) })
		is(t, w.View(background, check), nil)
	}},
	{"a transition that writes nothing commits nothing", func(t *testing.T, w *world) {
		before := w.Stats().Commits
		w.update(func(tx store.Tx) error { _, err := tx.Get([]byte("a")); return err })
		if n := w.Stats().Commits - before; n != 0 {
			t.Errorf("%d commits", n)
		}
	}},
	{"a reader is answered only after what it read is durable", func(t *testing.T, w *world) {
		committing, release := make(chan struct{}), make(chan struct{})
		w.faults.BeforeCommit = func([]store.Write) error {
			close(committing)
			<-release
			return nil
		}
		answered := make(chan struct{})
		wait := w.startGroup(setter("a", "1"), func(tx store.Tx) error {
			v, err := tx.Get([]byte("a"))
			if string(v) != "1" {
				t.Errorf("a is %q", v)
			}
			return err
		})
		go func() {
			is(t, errors.Join(wait()...), nil)
			close(answered)
		}()
		<-committing
		select {
		case <-answered:
			t.Error("answered before the commit")
		default:
		}
		close(release)
		<-answered
	}},
	{"a context that ends in the queue takes the transition out", func(t *testing.T, w *world) {
		held, release := make(chan struct{}), make(chan struct{})
		first := make(chan error, 1)
		go func() {
			first <- w.Update(background, func(store.Tx) error { close(held); <-release; return nil })
		}()
		<-held
		ctx, cancel := context.WithCancel(background)
		second := make(chan error, 1)
		go func() { second <- w.Update(ctx, setter("a", "1")) }()
		w.queued(1)
		cancel()
		is(t, <-second, context.Canceled)
		close(release)
		is(t, <-first, nil)
		w.set("b", "1")
		w.want("a", "")
	}},
	{"a context that ends after the transition was taken does not hide its outcome", func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(background)
		err := w.Update(ctx, func(tx store.Tx) error {
			cancel()
			return tx.Set([]byte("a"), []byte("1"))
		})
		is(t, err, nil)
		w.want("a", "1")
	}},
	{"a context that has ended when its turn comes runs nothing", func(t *testing.T, w *world) {
		ctx := &sleeper{Context: background}
		got := make(chan error, 1)
		wait := w.startGroup(func(store.Tx) error {
			go func() { got <- w.Update(ctx, func(store.Tx) error { t.Error("ran"); return nil }) }()
			w.queued(1)
			ctx.ended.Store(true)
			return nil
		})
		is(t, errors.Join(wait()...), nil)
		is(t, <-got, context.Canceled)
	}},
	{"an ended context runs nothing", func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(background)
		cancel()
		is(t, w.Update(ctx, func(store.Tx) error { t.Error("ran"); return nil }), context.Canceled)
		is(t, w.View(ctx, func(store.Reader) error { t.Error("ran"); return nil }), context.Canceled)
	}},
}

// sleeper is a context whose end its caller does not wake up from.
type sleeper struct {
	context.Context
	ended atomic.Bool
}

func (s *sleeper) Err() error {
	if s.ended.Load() {
		return context.Canceled
	}
	return nil
}
