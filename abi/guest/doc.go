// Package guest is the SDK for Writ modules written in Go: pure functions of their input, compiled
// to WebAssembly, that can reach nothing.
package guest
