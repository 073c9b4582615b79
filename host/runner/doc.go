// Package runner drives jobs from committed decisions only: it claims, keeps the lease, does the I/O
// that the kernel's last transition allows, and brings the outcome back. It decides nothing that the
// kernel has not decided, keeps no state that a restart would miss, and contacts a provider only after
// the marker of exactly that payload is durable.
//
// What a restart finds is decided from checkpoints, reservations and materialization promises. A
// contacted call without verified durable output is Unknown, never repeated; only a free,
// deterministic local model may run again.
package runner
