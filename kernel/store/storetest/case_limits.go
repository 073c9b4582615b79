package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/writ-kernel/writ/kernel/store"
)

// small are limits that a test reaches with few rows; the Committer keeps some of it for itself.
var small = store.Limits{Bytes: 600, Writes: 10}

var limits = []rule{
	{"a batch over the limit is cut between transitions", func(t *testing.T, w *world) {
		for name, rows := range map[string]struct{ per, size int }{"bytes": {2, 100}, "writes": {4, 1}} {
			batches := [][]store.Write{}
			w.restart(Faults{Bound: small, BeforeCommit: func(writes []store.Write) error {
				batches = append(batches, writes)
				return nil
			}})
			var fns []func(store.Tx) error
			for i := range 7 {
				fns = append(fns, func(tx store.Tx) (err error) {
					for j := range rows.per {
						key := fmt.Appendf(nil, "%s/%d/%d", name, i, j)
						err = errors.Join(err, tx.Set(key, bytes.Repeat([]byte("x"), rows.size)))
					}
					return err
				})
			}
			is(t, errors.Join(w.group(fns...)...), nil)
			if len(batches) < 3 {
				t.Errorf("%s: %d batches, want several", name, len(batches))
			}
			home := map[string]int{}
			for b, writes := range batches {
				size := 0
				for _, row := range writes {
					size += len(row.Key) + len(row.Value)
					owner := string(bytes.Join(bytes.Split(row.Key, []byte("/"))[:2], nil))
					if at, seen := home[owner]; seen && at != b && row.Key[0] != 0 {
						t.Errorf("%s: transition %s is in batches %d and %d", name, owner, at, b)
					}
					home[owner] = b
				}
				if size > small.Bytes || len(writes) > small.Writes {
					t.Errorf("%s: a batch has %d bytes in %d writes", name, size, len(writes))
				}
			}
			w.restart(Faults{})
			err := w.View(background, func(r store.Reader) error {
				n, err := count(r, name+"/")
				if n != 7*rows.per {
					t.Errorf("%s: %d rows, want %d", name, n, 7*rows.per)
				}
				return err
			})
			is(t, err, nil)
		}
	}},
	{"a hot row counts once in a batch", func(t *testing.T, w *world) {
		w.restart(Faults{Bound: small})
		var fns []func(store.Tx) error
		for range 40 {
			fns = append(fns, increment)
		}
		is(t, errors.Join(w.group(fns...)...), nil)
		if n := w.Stats().Commits; n != 1 {
			t.Errorf("%d commits, want 1", n)
		}
	}},
	{"a transition over the limit fails alone", func(t *testing.T, w *world) {
		w.restart(Faults{Bound: small})
		big := func(swallow bool) func(store.Tx) error {
			return func(tx store.Tx) error {
				for i := range small.Writes + 1 {
					if err := tx.Set(fmt.Append(nil, "big", i), []byte("x")); err != nil && !swallow {
						return err
					}
				}
				return nil
			}
		}
		got := w.group(
			setter("a", "1"), big(false), big(true),
			setter("huge", string(bytes.Repeat([]byte("x"), small.Bytes))), setter("b", "1"))
		is(t, got[0], nil)
		is(t, got[1], store.ErrTooLarge)
		is(t, got[2], store.ErrTooLarge)
		is(t, got[3], store.ErrTooLarge)
		is(t, got[4], nil)
		w.want("a", "1")
		w.want("b", "1")
		w.want("big0", "")
	}},
	{"whatever is within the engine's own limits commits", func(t *testing.T, w *world) {
		l := w.faults.Limits()
		for name, shape := range map[string]struct{ rows, size int }{
			"one huge value": {1, l.Bytes - 1000},
			"many rows":      {l.Writes - 1, (l.Bytes - 1000) / l.Writes},
			"tiny rows":      {l.Writes - 1, 10},
		} {
			value := bytes.Repeat([]byte("v"), max(1, shape.size-8))
			w.update(func(tx store.Tx) (err error) {
				for i := range shape.rows {
					err = errors.Join(err, tx.Set(fmt.Appendf(nil, "%c/%06d", name[0], i), value))
				}
				return err
			})
		}
	}},
}
