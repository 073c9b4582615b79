package badger

import (
	"bytes"
	"errors"
	"sync"

	db "github.com/dgraph-io/badger/v4"

	"github.com/writ-kernel/writ/kernel/store"
)

// space is put before every key, because Badger keeps keys with a prefix of its own for itself and
// fails a commit that holds one.
const space = 'w'

// Open opens or creates the store in dir, which is made with mode 0700. When another process holds
// it the error has the reason STORE_HELD and names that process; when its files are damaged the error
// wraps ErrDamaged.
func Open(dir string) (store.Engine, error) {
	if err := verify(dir); err != nil {
		return nil, err
	}
	d, err := db.Open(pinned(dir))
	if err != nil {
		return nil, openError(dir, err)
	}
	e := &engine{db: d, names: names{dir: dir}}
	if err := e.names.start(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return e, nil
}

type engine struct {
	db *db.DB

	// mu is held for writing while a commit is undecided. Badger would show a commit whose sync
	// failed to a snapshot taken at that moment.
	mu      sync.RWMutex
	unknown error
	names   names
}

// snapshot is a transaction that only reads, on the newest decided state.
func (e *engine) snapshot() (snapshot, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.unknown != nil {
		return snapshot{}, store.ErrCommitUnknown
	}
	if e.db.IsClosed() {
		return snapshot{}, store.ErrClosed
	}
	return snapshot{e.db.NewTransaction(false)}, nil
}

func (e *engine) View(fn func(store.Reader) error) error {
	s, err := e.snapshot()
	if err != nil {
		return err
	}
	defer s.txn.Discard()
	return fn(s)
}

func (e *engine) Begin() (store.Batch, error) {
	s, err := e.snapshot()
	if err != nil {
		return nil, err
	}
	return &batch{s, e}, nil
}

func (e *engine) Limits() store.Limits { return limits }

func (e *engine) Exclusive() bool { return true }

func (e *engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.db.Close()
}

// batch reads from a transaction of its own, because a Badger transaction that writes allows no
// nested scans, and remembers every row that it read.
type batch struct {
	snapshot
	engine *engine
}

func (b *batch) Discard() { b.txn.Discard() }

func (b *batch) Commit(writes []store.Write) error {
	e := b.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	defer b.txn.Discard()
	if e.unknown != nil {
		return store.ErrCommitUnknown
	}
	w := e.db.NewTransaction(true)
	defer w.Discard()
	// Every commit has a timestamp, so equal read timestamps mean that none came in between.
	if w.ReadTs() != b.txn.ReadTs() {
		return store.ErrConflict
	}
	err := put(w, writes)
	if err == nil {
		err = w.Commit()
	}
	if errors.Is(err, db.ErrConflict) {
		return store.ErrConflict
	}
	if err == nil {
		err = e.names.sync()
	}
	e.unknown = err
	return err
}

func put(w *db.Txn, writes []store.Write) error {
	for _, row := range writes {
		var err error
		if row.Value == nil {
			err = w.Delete(inner(row.Key))
		} else {
			err = w.Set(inner(row.Key), row.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func inner(key []byte) []byte { return append([]byte{space}, key...) }

type snapshot struct{ txn *db.Txn }

func (s snapshot) Get(key []byte) ([]byte, error) {
	item, err := s.txn.Get(inner(key))
	if errors.Is(err, db.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return item.ValueCopy(nil)
}

func (s snapshot) Scan(from, to []byte, fn func(key, value []byte) error) error {
	low := inner(from)
	high := []byte{space + 1}
	if to != nil {
		high = inner(to)
	}
	opt := db.DefaultIteratorOptions
	// Values lie beside their keys; there is nothing to fetch ahead, and it takes a goroutine each.
	opt.PrefetchValues = false
	// Lets Badger skip tables.
	opt.Prefix = shared(low, high)
	it := s.txn.NewIterator(opt)
	defer it.Close()
	for it.Seek(low); it.Valid(); it.Next() {
		item := it.Item()
		if bytes.Compare(item.Key(), high) >= 0 {
			return nil
		}
		value, err := item.ValueCopy(nil)
		if err != nil {
			return err
		}
		if err := fn(item.KeyCopy(nil)[1:], value); err != nil {
			if errors.Is(err, store.ErrStop) {
				return nil
			}
			return err
		}
	}
	return nil
}

// shared is the longest common prefix.
func shared(a, b []byte) []byte {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
