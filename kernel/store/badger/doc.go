// Package badger is the embedded engine beneath the Committer: Badger v4 in one directory, for one
// process.
//
// It owns that directory's files, the options they are opened with, and the translation of Badger's
// errors into what is known about a commit. It must never open a directory that another process
// holds, remove or bypass its lock, acknowledge a write before it is synced, or let a value reach
// Badger's value log.
//
// Invariants:
//   - One batch is one Badger transaction, written ahead and synced as a whole.
//   - A commit between a batch's Begin and its Commit is a conflict, whatever either of them touched.
//   - No snapshot is taken while a commit is undecided, nor after one stayed unknown.
//   - The value log stays empty: everything in a batch is smaller than its threshold. Badger only
//     logs a failed sync or read of the value log, and reports it to nobody. It also leaves nothing
//     to garbage-collect; obsolete rows go away in compaction, which Badger does by itself.
//   - A damaged table refuses to open. Badger would read a damaged block as absent rows.
package badger
