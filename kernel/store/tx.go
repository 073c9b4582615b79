package store

import (
	"bytes"
	"errors"
	"fmt"
)

// system is the prefix of the rows that belong to this package.
var system = []byte("\x00sys/")

// ErrInvalid means that a key is empty, longer than MaxKey or reserved, or that a value is empty.
var ErrInvalid = errors.New("store: invalid key or value")

// visible is a Reader without the rows of this package.
type visible struct{ Reader }

func (r visible) Get(key []byte) ([]byte, error) {
	if len(key) == 0 || bytes.HasPrefix(key, system) {
		return nil, nil
	}
	return r.Reader.Get(key)
}

func (r visible) Scan(from, to []byte, fn func(key, value []byte) error) error {
	if to != nil && bytes.Compare(from, to) >= 0 {
		return nil
	}
	return r.Reader.Scan(from, to, func(key, value []byte) error {
		if bytes.HasPrefix(key, system) {
			return nil
		}
		return fn(key, value)
	})
}

// tx is one run of one transition.
type tx struct {
	read   visible
	own    overlay
	now    int64
	limits Limits
	// failed is the first error of the store itself. A transition cannot swallow it and decide on a
	// row that it could not read, or commit without a row that it could not write.
	failed error
}

func newTx(base Reader, now int64, limits Limits) *tx {
	t := &tx{now: now, limits: limits}
	t.read = visible{overlaid{base, &t.own}}
	return t
}

func (t *tx) Now() int64 { return t.now }

func (t *tx) Get(key []byte) ([]byte, error) {
	v, err := t.read.Get(key)
	t.fail(err)
	return v, err
}

func (t *tx) Scan(from, to []byte, fn func(key, value []byte) error) error {
	var own error
	err := t.read.Scan(from, to, func(key, value []byte) error {
		own = fn(key, value)
		return own
	})
	if own == nil {
		t.fail(err)
	}
	return err
}

func (t *tx) Set(key, value []byte) error {
	if len(value) == 0 {
		return t.fail(fmt.Errorf("%w: empty value", ErrInvalid))
	}
	return t.write(key, bytes.Clone(value))
}

func (t *tx) Delete(key []byte) error { return t.write(key, nil) }

func (t *tx) write(key, value []byte) error {
	switch {
	case t.failed != nil:
		return t.failed
	case len(key) == 0 || len(key) > MaxKey:
		return t.fail(fmt.Errorf("%w: key of %d bytes, allowed are 1 to %d", ErrInvalid, len(key), MaxKey))
	case bytes.HasPrefix(key, system):
		return t.fail(fmt.Errorf("%w: reserved key", ErrInvalid))
	}
	t.own.put(Write{bytes.Clone(key), value})
	if t.own.bytes > t.limits.Bytes || len(t.own.rows) > t.limits.Writes {
		return t.fail(errTooLarge(t.limits))
	}
	return nil
}

func (t *tx) fail(err error) error {
	if t.failed == nil {
		t.failed = err
	}
	return err
}
