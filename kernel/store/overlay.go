package store

import (
	"bytes"
	"errors"
	"slices"
)

// overlay holds writes that are not in the engine yet, sorted by key.
type overlay struct {
	rows  []Write
	bytes int
}

func cost(w Write) int { return len(w.Key) + len(w.Value) }

func (o *overlay) find(key []byte) (int, bool) {
	// Most writes come in ascending order, and the end of the slice is the cheap place to insert.
	if n := len(o.rows); n == 0 || bytes.Compare(o.rows[n-1].Key, key) < 0 {
		return n, false
	}
	return slices.BinarySearchFunc(o.rows, key, func(w Write, k []byte) int { return bytes.Compare(w.Key, k) })
}

// get returns the overlaid row; its Value is nil when the key is deleted here.
func (o *overlay) get(key []byte) (Write, bool) {
	i, ok := o.find(key)
	if !ok {
		return Write{}, false
	}
	return o.rows[i], true
}

// put keeps w as it is; the caller gives up its slices.
func (o *overlay) put(w Write) {
	i, ok := o.find(w.Key)
	if ok {
		o.bytes += cost(w) - cost(o.rows[i])
		o.rows[i] = w
		return
	}
	o.bytes += cost(w)
	o.rows = slices.Insert(o.rows, i, w)
}

// within is the part of the rows in [from, to); a nil bound is open.
func (o *overlay) within(from, to []byte) []Write {
	lo, hi := 0, len(o.rows)
	if len(from) > 0 {
		lo, _ = o.find(from)
	}
	if to != nil {
		hi, _ = o.find(to)
	}
	return o.rows[lo:max(lo, hi)]
}

// sizeWith is the size of o after next was merged into it.
func (o *overlay) sizeWith(next *overlay) (size, rows int) {
	size, rows = o.bytes+next.bytes, len(o.rows)+len(next.rows)
	for _, w := range next.rows {
		if old, ok := o.get(w.Key); ok {
			size -= cost(old)
			rows--
		}
	}
	return size, rows
}

func (o *overlay) merge(next *overlay) {
	for _, w := range next.rows {
		o.put(w)
	}
}

// overlaid is a Reader of rows over a base. It owns neither.
type overlaid struct {
	base Reader
	over *overlay
}

func (r overlaid) Get(key []byte) ([]byte, error) {
	if w, ok := r.over.get(key); ok {
		return w.Value, nil
	}
	return r.base.Get(key)
}

// Scan walks the state as it was when Scan was called: fn may write while it runs, and what it
// writes shows in the next scan. Otherwise a loop that inserts behind its cursor would never end.
func (r overlaid) Scan(from, to []byte, fn func(key, value []byte) error) error {
	rows := r.over.within(from, to)
	if len(rows) == 0 {
		return r.base.Scan(from, to, fn)
	}
	rows = slices.Clone(rows)
	stopped := false
	emit := func(key, value []byte) error {
		err := fn(key, value)
		stopped = stopped || errors.Is(err, ErrStop)
		return err
	}
	// drain emits the rows below key (all of them when key is nil) and tells whether the next row
	// replaces key.
	drain := func(key []byte) (replaced bool, err error) {
		for len(rows) > 0 {
			c := -1
			if key != nil {
				c = bytes.Compare(rows[0].Key, key)
			}
			if c > 0 {
				return false, nil
			}
			w := rows[0]
			rows = rows[1:]
			if w.Value != nil {
				if err := emit(w.Key, w.Value); err != nil {
					return c == 0, err
				}
			}
			if c == 0 {
				return true, nil
			}
		}
		return false, nil
	}
	err := r.base.Scan(from, to, func(key, value []byte) error {
		replaced, err := drain(key)
		if err != nil || replaced {
			return err
		}
		return emit(key, value)
	})
	if err != nil || stopped {
		return err
	}
	if _, err = drain(nil); errors.Is(err, ErrStop) {
		return nil
	}
	return err
}
