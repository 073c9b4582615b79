// Package provider runs provider adapters: it turns verified bytes into a process that can only be
// asked, and takes answers back under bounds.
//
// It owns each adapter's process, private directory and connection. An adapter is started on first
// use from the very file descriptor whose bytes were hashed, without arguments, with no environment
// but the handshake's variables, in a private working directory that also holds its socket, as the
// leader of its own process group, and dies with the host (Linux). The connection is mutually
// authenticated TLS over that socket; any other address an adapter names is refused before a dial.
// Both directions of every message are bounded, standard output is drained, diagnostics are
// bounded, escaped and logged.
//
// It must never decide that a call may happen, retry a call, or interpret an answer beyond its
// bounds. It keeps these rules:
//   - A call reaches an adapter at most once. Failures that happen before the first request byte
//     carry ErrNotSent; every other failure leaves open whether the far end was reached.
//   - One call at a time per adapter, so that ending a process that hangs ends no other call.
//   - Every call ends: with its answer, when its time is over, or as soon as its process is gone.
//   - After Close no process of any group started here is left, and no file.
//
// What it does not do yet is take rights away from the process: until the sandbox launcher stands
// under it, an adapter runs with the host user's rights, and only adapters of this very build run.
package provider
