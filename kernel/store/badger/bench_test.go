package badger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	db "github.com/dgraph-io/badger/v4"

	"github.com/writ-kernel/writ/kernel/store"
)

// BenchmarkDurable compares durable transactions through the Committer with Badger's own, at the
// same options, rows and number of callers in the same run. Each reads one row and writes it.
func BenchmarkDurable(b *testing.B) {
	for _, shape := range []struct {
		name    string
		callers int
		key     func(caller, i int) []byte
	}{
		{"1-caller", 1, ownKey},
		{"64-callers", 64, ownKey},
		{"64-callers-one-row", 64, func(int, int) []byte { return []byte("hot") }},
	} {
		b.Run("committer/"+shape.name, func(b *testing.B) {
			s, err := store.Open(open(b, b.TempDir()), system{time.Now()})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			spread(b, shape.callers, func(caller, i int) error {
				key := shape.key(caller, i)
				return s.Update(context.Background(), func(tx store.Tx) error {
					old, err := tx.Get(key)
					if err != nil {
						return err
					}
					return tx.Set(key, following(old))
				})
			})
			b.ReportMetric(float64(b.N)/float64(s.Stats().Commits), "tx/commit")
		})
		b.Run("badger/"+shape.name, func(b *testing.B) {
			d := open(b, b.TempDir()).(*engine).db
			defer d.Close()
			spread(b, shape.callers, func(caller, i int) error {
				key := shape.key(caller, i)
				for {
					err := d.Update(func(tx *db.Txn) error {
						var old []byte
						item, err := tx.Get(key)
						if err == nil {
							old, err = item.ValueCopy(nil)
						}
						if err != nil && !errors.Is(err, db.ErrKeyNotFound) {
							return err
						}
						return tx.Set(key, following(old))
					})
					if !errors.Is(err, db.ErrConflict) {
						return err
					}
				}
			})
		})
	}
}

// BenchmarkView reads one row in a snapshot of its own.
func BenchmarkView(b *testing.B) {
	s := start(b, b.TempDir())
	err := s.Update(context.Background(), func(tx store.Tx) error { return tx.Set([]byte("a"), following(nil)) })
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		err := s.View(context.Background(), func(r store.Reader) error {
			_, err := r.Get([]byte("a"))
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens a store with 64 MiB of rows in tables.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	e := open(b, dir)
	for i := range 128 {
		batch, err := e.Begin()
		if err != nil {
			b.Fatal(err)
		}
		var writes []store.Write
		for j := range 1024 {
			writes = append(writes, store.Write{Key: fmt.Appendf(nil, "%04d/%04d", i, j), Value: make([]byte, 512)})
		}
		if err := batch.Commit(writes); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"verify", func() error { return verify(dir) }},
		{"whole", func() error {
			e, err := Open(dir)
			if err != nil {
				return err
			}
			return e.Close()
		}},
	} {
		b.Run(part.name, func(b *testing.B) {
			for b.Loop() {
				if err := part.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(128 << 19)
		})
	}
}

func ownKey(caller, i int) []byte { return fmt.Appendf(nil, "row/%d/%d", caller, i) }

// following is a row of 200 bytes that counts.
func following(old []byte) []byte {
	row := make([]byte, 200)
	if old != nil {
		copy(row, old)
	}
	binary.BigEndian.PutUint64(row, binary.BigEndian.Uint64(row)+1)
	return row
}

// spread shares b.N calls among callers.
func spread(b *testing.B, callers int, call func(caller, i int) error) {
	b.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for caller := range callers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := call(caller, int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
}

type system struct{ since time.Time }

func (s system) Wall() time.Time     { return time.Now() }
func (s system) Mono() time.Duration { return time.Since(s.since) }
