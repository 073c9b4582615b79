package store

import "errors"

// ErrConflict is returned by an engine whose commit or read lost against a foreign commit. It proves
// that nothing of the batch was written, so the batch may be run again.
var ErrConflict = errors.New("store: conflict")

// MaxKey is the longest key in bytes that every engine accepts.
const MaxKey = 1024

// Engine is what the Committer needs of a database. Its users hold at most one open Batch at a time;
// Views run beside it.
type Engine interface {
	// View runs fn on one committed, durable snapshot. It must not show a commit whose outcome is
	// not known yet, and fails once there was one whose outcome stayed unknown.
	View(fn func(Reader) error) error
	// Begin opens a batch on the newest committed snapshot.
	Begin() (Batch, error)
	// Limits says how much one batch may write.
	Limits() Limits
	// Exclusive reports that no other process can have the same store open.
	Exclusive() bool
	Close() error
}

// Batch is one engine transaction: reads of a snapshot, then one commit.
type Batch interface {
	Reader
	// Commit makes all writes durable, or none. Keys are distinct and ascending. nil means durable.
	// ErrConflict means that another commit came in between and nothing was written. Any other
	// error means that the outcome is unknown.
	Commit(writes []Write) error
	// Discard ends a batch without writing. It does nothing after Commit.
	Discard()
}

// Write is one row of a batch. A nil Value deletes the key.
type Write struct {
	Key, Value []byte
}

// Limits bound one batch. Whatever keeps within both must fit into one engine transaction.
type Limits struct {
	// Bytes is the sum of key and value lengths.
	Bytes int
	// Writes is the number of rows.
	Writes int
}
