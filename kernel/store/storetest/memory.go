package storetest

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/writ-kernel/writ/kernel/store"
)

// Memory is a disk for in-memory engines: what one engine committed is there for the next.
type Memory struct {
	mu   sync.Mutex
	rows []store.Write // sorted; never changed in place, so a slice of it is a snapshot
}

// Engine opens the memory.
func (m *Memory) Engine() store.Engine { return &memory{disk: m} }

// New opens an empty store in memory with a manual clock, and closes it when the test ends.
func New(t testing.TB) (*store.Committer, *Clock) {
	t.Helper()
	clock := NewClock()
	s, err := store.Open(new(Memory).Engine(), clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, clock
}

type memory struct {
	disk *Memory

	// Both under disk.mu.
	closed bool
	views  int
}

func (m *memory) snapshot() (snapshot, error) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	if m.closed {
		return nil, store.ErrClosed
	}
	return snapshot(m.disk.rows), nil
}

func (m *memory) View(fn func(store.Reader) error) error {
	s, err := m.snapshot()
	if err != nil {
		return err
	}
	m.viewing(+1)
	defer m.viewing(-1)
	return fn(s)
}

func (m *memory) viewing(n int) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	m.views += n
}

func (m *memory) Begin() (store.Batch, error) {
	s, err := m.snapshot()
	if err != nil {
		return nil, err
	}
	return &memoryBatch{s, m}, nil
}

func (m *memory) Limits() store.Limits { return store.Limits{Bytes: 1 << 20, Writes: 8192} }

func (m *memory) Exclusive() bool { return true }

func (m *memory) Close() error {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	m.closed = true
	if m.views > 0 {
		return errors.New("storetest: closed under a View")
	}
	return nil
}

type memoryBatch struct {
	snapshot
	engine *memory
}

func (b *memoryBatch) Discard() {}

func (b *memoryBatch) Commit(writes []store.Write) error {
	m := b.engine.disk
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.engine.closed {
		return store.ErrClosed
	}
	old := m.rows
	rows := make([]store.Write, 0, len(old)+len(writes))
	for _, w := range writes {
		i, found := snapshot(old).find(w.Key)
		rows = append(rows, old[:i]...)
		if old = old[i:]; found {
			old = old[1:]
		}
		if w.Value != nil {
			rows = append(rows, store.Write{Key: bytes.Clone(w.Key), Value: bytes.Clone(w.Value)})
		}
	}
	m.rows = append(rows, old...)
	return nil
}

type snapshot []store.Write

func (s snapshot) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(s, key, func(w store.Write, k []byte) int { return bytes.Compare(w.Key, k) })
}

func (s snapshot) Get(key []byte) ([]byte, error) {
	if i, ok := s.find(key); ok {
		return s[i].Value, nil
	}
	return nil, nil
}

func (s snapshot) Scan(from, to []byte, fn func(key, value []byte) error) error {
	i, _ := s.find(from)
	for _, w := range s[i:] {
		if to != nil && bytes.Compare(w.Key, to) >= 0 {
			return nil
		}
		if err := fn(w.Key, w.Value); err != nil {
			if errors.Is(err, store.ErrStop) {
				return nil
			}
			return err
		}
	}
	return nil
}
