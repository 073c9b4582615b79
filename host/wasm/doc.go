// Package wasm runs writ/1 modules. The kernel's process never runs guest code: a Pool keeps worker
// processes, which are this very binary started again, sends each call over a socketpair and kills
// the worker at the deadline without waiting for it.
//
// Invariants: a module reaches nothing but its input, its output and its log; an import beyond those
// is refused by name before anything is compiled. Every call gets a fresh instance that is never used
// again. Compiling is outside a call's wall limit. A trap, a flood, a lie in a frame or a death
// discards the worker and reaches the caller as a Fault; a refusal by the module reaches it as a
// GuestError. What a worker answers is copied once, bounded while it is read, then validated.
//
// Every main and TestMain of a program that makes a Pool calls WorkerMain first.
package wasm
