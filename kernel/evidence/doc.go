// Package evidence binds words to bytes: it owns normalized texts, their one line function and one
// span function, the passages a model is shown, and the citations that come back.
//
// It is pure. It opens nothing, keeps no clock, and believes a module about nothing that can be
// checked: a normalizer's text and map are compared with the raw bytes, a reader's segments must
// cover the text, and a model contributes only a passage ID and a quote. It must never repair a
// quote, join two spans, or change a source code point.
//
// Invariants:
//   - A Text exists only if it is exactly what text.v1 makes of its raw bytes.
//   - Offsets are Unicode code points of the normalized text, half-open [start, end); raw offsets
//     are bytes of the stored source. Lines count from 1. No range cuts a code point.
//   - LF ends a line (CRLF and CR became LF); FF, NEL, U+2028 and U+2029 do not. A last piece
//     without LF is a line; the empty text has none.
//   - A citation is verified only if its quote is byte-identical to the first place in the cited
//     passage where it occurs. Everything else stays visible under a lower status and is not adopted.
//   - Folding serves a hint for people, costs time linear in its input, and verifies nothing.
package evidence
