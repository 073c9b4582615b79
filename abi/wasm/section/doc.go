// Package section reads what a WebAssembly module says about itself without running or compiling
// it: custom sections, imports and whether it has a start function. It trusts no length, allocates
// in proportion to the module at most, and returns slices of the module it was given.
package section
