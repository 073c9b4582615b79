// Package research holds what crosses the border between a research child and a model: the prompt
// that goes out and the strict JSON that comes back.
//
// A prompt is the canonical JSON of two complete messages, fixed instructions and one task, so that
// one SHA-256 binds everything a model is told. Passages carry short IDs; a model answers with
// those IDs and never with a path, an address or an offset. What comes back is decoded against a
// closed schema: an unknown, missing, duplicate or oversized part refuses the whole answer.
//
// The package decides nothing about truth: whether a quote stands in its passage, and whether a
// claim is supported, is for the kernel to check. It does no I/O and keeps no state.
package research
