// Package storetest holds what tests of the store, and tests on top of a store, share: the
// conformance suite that every engine must pass, a manual clock, an engine in memory and one that
// fails on demand.
//
// The suite sees an engine only through the Committer and the Engine port, so it holds for any
// database. It asserts no durations. Nothing outside tests may import this package.
package storetest
