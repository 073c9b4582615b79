// Package tlog owns the append-only transparency log: one leaf per admission, cancellation,
// revocation and accounting outcome, appended in the transaction that it describes, in an RFC 6962
// Merkle tree (golang.org/x/mod/sumdb/tlog).
//
// A leaf commits to its entry through a salt, so a proof of one owner's entry opens nothing of
// another's. The log is only ever extended; it decides nothing and is read by no transition.
package tlog
