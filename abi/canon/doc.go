// Package canon is the one place that turns values into canonical bytes and bytes into digests.
//
// Canonical JSON is RFC 8785 (JCS) as implemented by jsontext. Decoding is strict: an unknown
// member, a duplicate member, invalid UTF-8 and trailing data are errors that name the field.
// Integers beyond ±(2^53-1) are refused, because RFC 8785 numbers are IEEE doubles and would lose
// digits without a word. Digests are lower-case hex SHA-256.
package canon
