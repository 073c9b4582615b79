package store

import "context"

// Do runs a transition that has a typed outcome.
func Do[T any](ctx context.Context, s Store, fn func(Tx) (T, error)) (T, error) {
	var out T
	err := s.Update(ctx, func(tx Tx) (err error) {
		out, err = fn(tx)
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return out, nil
}

// Read reads a typed value from one snapshot.
func Read[T any](ctx context.Context, s Store, fn func(Reader) (T, error)) (T, error) {
	var out T
	err := s.View(ctx, func(r Reader) (err error) {
		out, err = fn(r)
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return out, nil
}
