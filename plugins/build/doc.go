// Command build compiles every first-party plugin of this checkout and writes the lock that pins
// them, then, with -writ, the binary that carries the lock's digest.
//
//	go run ./plugins/build -out bin -writ
//
// Modules under plugins/normalizers, plugins/readers and plugins/assemblers become WebAssembly with
// their manifest.json as section writ.manifest; adapters under plugins/models become executables.
// It needs Go alone. Output depends on the sources and the Go release only, several builds into one
// folder wait for each other, and a file whose bytes stay the same is not touched.
package main
