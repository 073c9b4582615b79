// Package lock reads and writes plugins.lock, the list of the plugins of one build with their
// digests. There is exactly one byte sequence for one list, and every other one is refused.
package lock
