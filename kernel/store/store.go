package store

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrStop ends a Scan early without an error.
	ErrStop = errors.New("store: stop scan")
	// ErrCommitUnknown means that a commit may or may not have happened. The store is poisoned and
	// the process must exit; the next start finds the truth.
	ErrCommitUnknown = errors.New("store: commit outcome unknown")
	// ErrTooLarge means that one transition alone outgrows what the engine commits at once.
	ErrTooLarge = errors.New("store: transition too large")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("store: closed")
	// ErrPanic wraps what a transition panicked with; nothing of it was written.
	ErrPanic = errors.New("store: transition panicked")
)

// Reader reads one consistent snapshot. Returned slices are valid until the function that got the
// Reader returns and must not be changed.
type Reader interface {
	// Get returns the value, or nil when the key is absent. Stored values are never empty.
	Get(key []byte) ([]byte, error)
	// Scan calls fn for every key in [from, to) in ascending order until fn returns an error; ErrStop
	// ends the scan and Scan returns nil. A nil from begins at the first key, a nil to ends after the
	// last. A scan shows the state in which it started: what fn writes shows in the next one. Scans
	// nest.
	Scan(from, to []byte, fn func(key, value []byte) error) error
}

// Tx is what a transition works on: a Reader that sees its own writes.
type Tx interface {
	Reader
	// Set stores a copy of a non-empty value under a copy of a key of 1 to MaxKey bytes. It fails
	// with ErrInvalid, or with ErrTooLarge once the transition has outgrown the engine's limits. A
	// transition in which a read or a write failed is refused even if it returns nil.
	Set(key, value []byte) error
	// Delete removes a key; an absent one is no error.
	Delete(key []byte) error
	// Now is the transition's time in microseconds since 1970 UTC: strictly greater than that of
	// every transition committed before. Transitions use no other clock.
	Now() int64
}

// Store is the port that the kernel is written against: serializable transactions over an ordered
// byte-key space.
type Store interface {
	// View reads one committed snapshot.
	View(ctx context.Context, fn func(Reader) error) error
	// Update runs a pure transition. An error from fn means that nothing was written; a refusal that
	// must last is an outcome that fn writes before it returns nil. Update returns once the writes
	// are durable. fn may be run more than once, must not keep tx, and must not call Update or Close:
	// transitions run one at a time.
	Update(ctx context.Context, fn func(tx Tx) error) error
	// Changed returns a channel that is closed after the next commit, or when the store ends.
	Changed() <-chan struct{}
	// Exclusive reports that no other process can have this store open.
	Exclusive() bool
	Close() error
}

// Clock is the time source that the host gives to the committer.
type Clock interface {
	// Wall is the wall clock.
	Wall() time.Time
	// Mono is time elapsed since an arbitrary fixed moment; it never goes back. A host that can
	// should count time asleep too, or the wall clock seems to step when a machine wakes up.
	Mono() time.Duration
}
