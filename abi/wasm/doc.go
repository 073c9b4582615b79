// Package wasm holds the module ABI writ/1 as Go types: names, kinds, codes, frame headers and the
// schema of every operation. abi/README.md is the normative text.
//
// Guests import this package too, so it is plain data and short pure functions: it imports nothing
// that costs a module size or start-up time, keeps no state and does no I/O. Sizes are bytes,
// offsets into text are Unicode code points, lines count from 1, money is micro-USD.
package wasm
