// Package guest is the SDK for Writ modules written in Go: pure functions of their input, compiled
// to WebAssembly, that can reach nothing. A module registers its operations while it initialises
// and leaves main empty:
//
//	func init() { guest.Handle("normalizer", "normalize", normalize) }
//	func main() {}
//
// and is built with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared. abi/README.md specifies
// what travels. The package owns framing and headers only; it depends on nothing, not even on
// encoding/json, so that a small module stays small and starts fast. A panic ends the instance and
// its message reaches the host's log; the package recovers from nothing.
package guest
