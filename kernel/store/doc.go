// Package store is where every durable decision of the kernel is kept: serializable transactions
// over an ordered byte-key space.
//
// It owns the port that the kernel is written against (Store, Tx, Reader), the smaller port that a
// database is driven through (Engine, Batch), and the Committer that makes the first out of the
// second. One goroutine per node runs transitions one after another, each on an overlay over the
// state its predecessors left, commits what a batch of them wrote in one durable engine transaction,
// and only then answers any of them.
//
// It must never retry a commit that may have happened, answer before the writes that an answer rests
// on are durable, open a file, or know which engine is beneath it.
//
// Invariants:
//   - Transitions are serial: each sees everything that every earlier one wrote, ranges included.
//   - An error, a panic or a size over the limit writes nothing of that transition and leaves the
//     other members of its batch as if it had never run.
//   - All writes of one transition are in one engine transaction.
//   - After a commit of unknown outcome nothing is read from the store or written to it again.
//   - Now grows from one transition to the next, across restarts too. It never jumps far ahead of
//     monotonic time because a wall clock was set.
//   - Keys below "\x00sys/" belong to this package: transitions neither see nor touch them.
package store
