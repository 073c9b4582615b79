package storetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/writ-kernel/writ/kernel/store"
)

var errFull = errors.New("full")

var isolation = []rule{
	{"a row inserted into a scanned range cannot be missed", func(t *testing.T, w *world) {
		// Each transition admits one row if fewer than three stand: a phantom would admit a fourth.
		for round := range 10 {
			prefix := fmt.Sprintf("round%d/", round)
			w.race(16, func(i int) error {
				return w.Update(background, func(tx store.Tx) error {
					n, err := count(tx, prefix)
					if err != nil {
						return err
					}
					if n >= 3 {
						return errFull
					}
					return tx.Set(fmt.Appendf(nil, "%s%d", prefix, i), []byte("x"))
				})
			}, errFull)
			err := w.View(background, func(r store.Reader) error {
				n, err := count(r, prefix)
				if n != 3 {
					t.Errorf("%d rows, want 3", n)
				}
				return err
			})
			is(t, err, nil)
		}
	}},
	{"two transitions that read each other's row cannot both act on the old state", func(t *testing.T, w *world) {
		for round := range 20 {
			keys := [2]string{fmt.Sprintf("%d/left", round), fmt.Sprintf("%d/right", round)}
			w.set(keys[0], "on")
			w.set(keys[1], "on")
			w.race(2, func(i int) error {
				return w.Update(background, func(tx store.Tx) error {
					other, err := tx.Get([]byte(keys[1-i]))
					if err != nil {
						return err
					}
					if string(other) != "on" {
						return errFull
					}
					return tx.Set([]byte(keys[i]), []byte("off"))
				})
			}, errFull)
			on := 0
			err := w.View(background, func(r store.Reader) error {
				return r.Scan(fmt.Appendf(nil, "%d/", round), fmt.Appendf(nil, "%d0", round), func(_, v []byte) error {
					if string(v) == "on" {
						on++
					}
					return nil
				})
			})
			if err != nil || on != 1 {
				t.Fatalf("%d rows are on, want 1 (%v)", on, err)
			}
		}
	}},
	{"no increment of one hot row is lost", func(t *testing.T, w *world) {
		const callers, each = 16, 25
		w.race(callers, func(int) error {
			for range each {
				if err := w.Update(background, increment); err != nil {
					return err
				}
			}
			return nil
		}, nil)
		err := w.View(background, func(r store.Reader) error {
			v, err := r.Get([]byte("counter"))
			if n := binary.BigEndian.Uint64(v); n != callers*each {
				t.Errorf("counter is %d, want %d", n, callers*each)
			}
			return err
		})
		is(t, err, nil)
	}},
	{"a View sees one moment", func(t *testing.T, w *world) {
		w.set("a", "0")
		w.set("b", "0")
		stop := make(chan struct{})
		var writer sync.WaitGroup
		writer.Go(func() {
			for i := 1; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				v := fmt.Append(nil, i)
				w.update(func(tx store.Tx) error { return errors.Join(tx.Set([]byte("a"), v), tx.Set([]byte("b"), v)) })
			}
		})
		for range 50 {
			err := w.View(background, func(r store.Reader) error {
				a, err := r.Get([]byte("a"))
				b, err2 := r.Get([]byte("b"))
				if string(a) != string(b) {
					t.Errorf("a is %s and b is %s", a, b)
				}
				return errors.Join(err, err2)
			})
			is(t, err, nil)
		}
		close(stop)
		writer.Wait()
	}},
	{"a View sees what was answered before it began, and nothing that was not committed", func(t *testing.T, w *world) {
		w.set("a", "1")
		inside, release := make(chan struct{}), make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- w.Update(background, func(tx store.Tx) error {
				err := tx.Set([]byte("a"), []byte("2"))
				close(inside)
				<-release
				return err
			})
		}()
		<-inside
		w.want("a", "1")
		close(release)
		is(t, <-done, nil)
		w.want("a", "2")
	}},
}

func increment(tx store.Tx) error {
	v, err := tx.Get([]byte("counter"))
	if err != nil {
		return err
	}
	n := uint64(1)
	if v != nil {
		n += binary.BigEndian.Uint64(v)
	}
	return tx.Set([]byte("counter"), binary.BigEndian.AppendUint64(nil, n))
}

// race runs n callers at once; each must succeed or fail with allowed.
func (w *world) race(n int, fn func(i int) error, allowed error) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := fn(i); err != nil && (allowed == nil || !errors.Is(err, allowed)) {
				w.t.Error(err)
			}
		})
	}
	all.Wait()
}
