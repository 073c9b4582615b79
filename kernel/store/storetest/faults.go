package storetest

import "github.com/writ-kernel/writ/kernel/store"

// Faults is an engine that fails on demand. Every hook may be nil.
type Faults struct {
	store.Engine
	// Bound replaces the engine's limits when it is not zero. It must be smaller.
	Bound store.Limits
	// Shared has the Committer believe that other processes use the store too.
	Shared bool
	// OnBegin fails Begin.
	OnBegin func() error
	// OnRead fails a Get or a Scan that starts at key.
	OnRead func(key []byte) error
	// BeforeCommit fails a commit that then does not happen.
	BeforeCommit func(writes []store.Write) error
	// AfterCommit fails a commit that has happened.
	AfterCommit func(writes []store.Write) error
}

// Limits implements store.Engine.
func (f *Faults) Limits() store.Limits {
	if f.Bound != (store.Limits{}) {
		return f.Bound
	}
	return f.Engine.Limits()
}

// Exclusive implements store.Engine.
func (f *Faults) Exclusive() bool { return !f.Shared && f.Engine.Exclusive() }

// Begin implements store.Engine.
func (f *Faults) Begin() (store.Batch, error) {
	if f.OnBegin != nil {
		if err := f.OnBegin(); err != nil {
			return nil, err
		}
	}
	b, err := f.Engine.Begin()
	if err != nil {
		return nil, err
	}
	return &faultyBatch{b, f}, nil
}

type faultyBatch struct {
	store.Batch
	faults *Faults
}

func (b *faultyBatch) read(key []byte) error {
	if b.faults.OnRead == nil {
		return nil
	}
	return b.faults.OnRead(key)
}

func (b *faultyBatch) Get(key []byte) ([]byte, error) {
	if err := b.read(key); err != nil {
		return nil, err
	}
	return b.Batch.Get(key)
}

func (b *faultyBatch) Scan(from, to []byte, fn func(key, value []byte) error) error {
	if err := b.read(from); err != nil {
		return err
	}
	return b.Batch.Scan(from, to, fn)
}

func (b *faultyBatch) Commit(writes []store.Write) error {
	if b.faults.BeforeCommit != nil {
		if err := b.faults.BeforeCommit(writes); err != nil {
			return err
		}
	}
	if err := b.Batch.Commit(writes); err != nil {
		return err
	}
	if b.faults.AfterCommit != nil {
		return b.faults.AfterCommit(writes)
	}
	return nil
}
