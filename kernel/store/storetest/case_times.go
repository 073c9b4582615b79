package storetest

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/writ-kernel/writ/kernel/store"
)

// now is the time that one committed transition is given.
func (w *world) now() (at int64) {
	w.t.Helper()
	w.update(func(tx store.Tx) error {
		at = tx.Now()
		return tx.Set([]byte("touched"), []byte("x"))
	})
	return at
}

var times = []rule{
	{"time is the wall clock's", func(t *testing.T, w *world) {
		w.clock.Advance(time.Hour)
		if got, want := w.now(), w.clock.Wall().UnixMicro(); got != want {
			t.Errorf("now is %d, want %d", got, want)
		}
	}},
	{"time never stands still", func(t *testing.T, w *world) {
		last := int64(0)
		for range 100 {
			now := w.now()
			if now <= last {
				t.Fatalf("%d after %d", now, last)
			}
			last = now
		}
	}},
	{"members of one batch have growing times", func(t *testing.T, w *world) {
		var got []int64
		see := func(tx store.Tx) error { got = append(got, tx.Now()); return nil }
		w.group(see, see, see)
		if len(got) != 3 || got[0] >= got[1] || got[1] >= got[2] {
			t.Errorf("times %v", got)
		}
	}},
	{"a wall clock set back does not stop or turn time", func(t *testing.T, w *world) {
		before := w.now()
		w.clock.Step(-time.Hour)
		w.clock.Advance(time.Minute)
		if got := w.now() - before; got != time.Minute.Microseconds() {
			t.Errorf("time moved %d µs in a minute", got)
		}
		if s := w.Clock(); !s.Adopted || s.Skew != -time.Hour {
			t.Errorf("status %+v", s)
		}
	}},
	{"time moves on at full speed after a small step forward and back", func(t *testing.T, w *world) {
		w.clock.Step(5 * time.Minute)
		before := w.now()
		w.clock.Step(-5 * time.Minute)
		w.clock.Advance(time.Second)
		if got := w.now() - before; got != time.Second.Microseconds() {
			t.Errorf("time moved %d µs in a second", got)
		}
	}},
	{"a step of up to ten minutes is adopted", func(t *testing.T, w *world) {
		w.now()
		w.clock.Step(store.MaxStep - time.Second)
		if got, want := w.now(), w.clock.Wall().UnixMicro(); got != want {
			t.Errorf("now is %d, want %d", got, want)
		}
	}},
	{"a larger step is not adopted until the wall clock is plausible again", func(t *testing.T, w *world) {
		before := w.now()
		w.clock.Step(store.MaxStep + time.Minute)
		w.clock.Advance(time.Second)
		if got := w.now() - before; got != time.Second.Microseconds() {
			t.Errorf("time moved %d µs in a second", got)
		}
		if s := w.Clock(); s.Adopted || s.Skew != store.MaxStep+time.Minute {
			t.Errorf("status %+v", s)
		}
		w.clock.Step(-2 * time.Minute)
		if got, want := w.now(), w.clock.Wall().UnixMicro(); got != want {
			t.Errorf("now is %d, want %d", got, want)
		}
		if !w.Clock().Adopted {
			t.Error("still not adopted")
		}
	}},
	{"a wall clock from another age is survived", func(t *testing.T, w *world) {
		before := w.now()
		w.clock.Step(time.Duration(1<<63 - 1))
		w.clock.Step(time.Duration(1<<63 - 1))
		w.clock.Step(time.Duration(1<<63 - 1))
		if now := w.now(); now <= before || now-before > 1000 || w.Clock().Adopted {
			t.Errorf("time moved %d µs, status %+v", now-before, w.Clock())
		}
	}},
	{"time grows across a restart with the wall clock set back", func(t *testing.T, w *world) {
		w.clock.Advance(time.Hour)
		before := w.now()
		w.clock.Step(-24 * time.Hour)
		w.restart(Faults{})
		after := w.now()
		if after <= before {
			t.Errorf("%d after %d", after, before)
		}
		w.clock.Advance(time.Second)
		if got := w.now() - after; got != time.Second.Microseconds() {
			t.Errorf("time moved %d µs in a second", got)
		}
	}},
	{"time on a shared store grows beyond what another node handed out", func(t *testing.T, w *world) {
		w.restart(Faults{Shared: true})
		theirs := w.now() + time.Hour.Microseconds()
		w.faults.OnBegin = func() error {
			w.faults.OnBegin = nil
			b, err := w.faults.Engine.Begin()
			if err != nil {
				return err
			}
			defer b.Discard()
			return b.Commit([]store.Write{{
				Key:   []byte("\x00sys/clock"),
				Value: binary.BigEndian.AppendUint64(nil, uint64(theirs)),
			}})
		}
		if ours := w.now(); ours <= theirs {
			t.Errorf("%d after %d", ours, theirs)
		}
	}},
	{"a restart adopts the wall clock", func(t *testing.T, w *world) {
		w.now()
		w.clock.Step(24 * time.Hour)
		w.restart(Faults{})
		if got, want := w.now(), w.clock.Wall().UnixMicro(); got != want {
			t.Errorf("now is %d, want %d", got, want)
		}
	}},
}
