// Package daemon holds a data directory for one process and serves it.
//
// It owns the checks a directory must pass before anything in it is opened, the lock that makes one
// process its holder, the unix socket through which every other process asks that holder, and the
// order in which all of it starts and ends. A long-running server and a one-shot command differ
// only in who ends them.
//
// It must never open a file in a directory that belongs to another uid, remove a socket without
// holding the lock, or delete the lock file: a lock that can be replaced is no lock.
//
// Invariants:
//   - At most one process serves a data directory.
//   - The socket exists only while its process holds the lock, or is stale and answers no one.
//   - The node is closed before the lock is released.
package daemon
