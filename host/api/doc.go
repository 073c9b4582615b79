// Package api serves the operator API of abi/api over Connect, gRPC and gRPC-Web.
//
// It owns the border between bytes from a caller and typed requests: strict decoding in both
// encodings, the one table from typed reasons to Connect codes, and the check of who is calling.
//
// It must never decide: every admission, permission and transition is the kernel's. It must never
// show text of an error that no one typed on purpose.
//
// Invariants:
//   - A request that was decoded holds nothing that the schema does not name, names no field twice,
//     and every refusal tells the field path and a reason.
//   - Every error that leaves carries a writ.v1.ErrorDetail.
//   - No handler runs for a caller of another uid where the system tells the uid of a peer.
package api
