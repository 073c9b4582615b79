// Package workspace keeps an owner's immutable artifact bytes in private files.
//
// Layout below the artifacts folder, directories 0700 and files 0600, all of the daemon's own uid:
//
//	<owner>/<sha256>               finished bytes, one file per digest
//	<owner>/staging/<id>.bytes     bytes written under materialization reservation <id>
//	<owner>/staging/<id>.receipt   their SHA-256 and size; its presence says that they are complete
//	<owner>/quarantine/…           whatever stood where it must not, moved aside as it was
//
// One output goes reserve (kernel) → Stage → Promote → Verify → adopt (kernel) → Forget. The receipt
// outlives Promote, so a restart that finds only a reservation ID still learns which digest was its
// own. The package decides nothing: it reports what is on disk, and adoption rests on the kernel's
// reservation.
//
// Invariants:
//   - Every access is relative to an open directory, follows no symbolic link and opens regular
//     files only; what is read is checked through the one descriptor it is read from.
//   - A call returns success only after its file and its directory are synced.
//   - Complete bytes are never deleted, except as the second copy of bytes that were just verified.
//     Files that do not match are moved to quarantine, never followed, repaired or overwritten.
//   - Nothing is larger than the bound it was written or read under.
//
// It must never take a path from a caller: owners, reservation IDs and digests are checked names.
package workspace
