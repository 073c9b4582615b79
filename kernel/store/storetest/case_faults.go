package storetest

import (
	"errors"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/store"
)

var errDisk = errors.New("disk on fire")

var faults = []rule{
	{"a commit of unknown outcome is unknown for every member and poisons the store", func(t *testing.T, w *world) {
		w.set("old", "1")
		w.faults.BeforeCommit = func([]store.Write) error { return errDisk }
		w.poisoned(func(tx store.Tx) error {
			_, err := tx.Get([]byte("a"))
			return err
		})
		w.restart(Faults{})
		w.want("old", "1")
		w.want("a", "")
	}},
	{"a commit that happened and reported an error is never repeated", func(t *testing.T, w *world) {
		commits := 0
		w.faults.AfterCommit = func([]store.Write) error { commits++; return errDisk }
		w.poisoned(func(store.Tx) error { return nil })
		if commits != 1 {
			t.Errorf("%d commits", commits)
		}
		w.restart(Faults{})
		w.want("a", "1")
	}},
	{"a panic inside the commit is an unknown outcome", func(t *testing.T, w *world) {
		w.faults.BeforeCommit = func([]store.Write) error { panic(errDisk) }
		is(t, w.Update(background, setter("a", "1")), store.ErrCommitUnknown)
		is(t, <-w.poison, store.ErrPanic)
	}},
	{"a conflict runs the batch again", func(t *testing.T, w *world) {
		conflicts := 0
		w.faults.BeforeCommit = func([]store.Write) error {
			if conflicts++; conflicts <= 5 {
				return store.ErrConflict
			}
			return nil
		}
		got := w.group(increment, increment, increment)
		is(t, errors.Join(got...), nil)
		w.want("counter", "\x00\x00\x00\x00\x00\x00\x00\x03")
	}},
	{"a conflict that stays is busy for the one that meets it", func(t *testing.T, w *world) {
		w.faults.BeforeCommit = func(writes []store.Write) error {
			for _, row := range writes {
				if string(row.Key) == "contended" {
					return store.ErrConflict
				}
			}
			return nil
		}
		got := w.group(setter("a", "1"), setter("contended", "1"), setter("b", "1"))
		is(t, errors.Join(got[0], got[2]), nil)
		if e, ok := reason.As(got[1]); !ok || e.Code != writv1.Reason_REASON_BUSY || !e.Retryable {
			t.Errorf("error is %v", got[1])
		}
		w.want("a", "1")
		w.want("b", "1")
		w.want("contended", "")
	}},
	{"a conflict found by a read runs the batch again", func(t *testing.T, w *world) {
		conflicts := 0
		w.faults.OnRead = func(key []byte) error {
			if string(key) != "counter" {
				return nil
			}
			if conflicts++; conflicts == 2 {
				return store.ErrConflict
			}
			return nil
		}
		is(t, errors.Join(w.group(setter("a", "1"), increment, increment)...), nil)
		w.want("a", "1")
	}},
	{"a failed read cannot be swallowed", func(t *testing.T, w *world) {
		w.faults.OnRead = func(key []byte) error {
			if string(key) == "torn" {
				return errDisk
			}
			return nil
		}
		got := w.group(
			func(tx store.Tx) error {
				_, _ = tx.Get([]byte("torn"))
				return tx.Set([]byte("a"), []byte("1"))
			},
			func(tx store.Tx) error {
				_ = tx.Scan([]byte("torn"), nil, func(_, _ []byte) error { return nil })
				return tx.Set([]byte("b"), []byte("1"))
			},
			setter("c", "1"))
		is(t, got[0], errDisk)
		is(t, got[1], errDisk)
		is(t, got[2], nil)
		w.want("a", "")
		w.want("b", "")
		w.want("c", "1")
	}},
	{"a batch that cannot begin fails its caller and nothing else", func(t *testing.T, w *world) {
		w.faults.OnBegin = func() error { return errDisk }
		is(t, w.Update(background, setter("a", "1")), errDisk)
		w.faults.OnBegin = nil
		w.set("b", "1")
		w.want("a", "")
	}},
}

// poisoned runs a batch of a writer and another transition into the failure that is set up, and
// checks what must follow.
func (w *world) poisoned(other func(store.Tx) error) {
	t := w.t
	t.Helper()
	changed := w.Changed()
	for _, err := range w.group(setter("a", "1"), other) {
		is(t, err, store.ErrCommitUnknown)
		if !reason.Is(err, writv1.Reason_REASON_COMMIT_UNKNOWN) {
			t.Errorf("%v has no reason", err)
		}
	}
	is(t, <-w.poison, errDisk)
	<-changed
	never := func() { t.Error("ran on a poisoned store") }
	is(t, w.Update(background, func(store.Tx) error { never(); return nil }), store.ErrCommitUnknown)
	is(t, w.View(background, func(store.Reader) error { never(); return nil }), store.ErrCommitUnknown)
}
