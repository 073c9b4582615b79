// Package tlog owns the append-only transparency log: one leaf per admission, cancellation,
// revocation and accounting outcome, appended in the transaction that it describes, in an RFC 6962
// Merkle tree (golang.org/x/mod/sumdb/tlog).
//
// A leaf commits to its entry through a salt, so a proof of one owner's entry opens nothing of
// another's. The log is only ever extended. It decides nothing; the one transition that reads it back is
// the claim of a funded child, which proves that its group's leaf is there.
package tlog
