// Package registry vouches for plugins: one runs only under the digest that the build pinned. The
// lock beside the plugins names each one's digest, and a released binary carries the digest of the
// lock itself, so that neither a plugin nor the list of plugins can change unseen.
//
// The package is pure: it reads through an fs.FS that its caller opened, starts nothing and reaches
// no network. Invariants: bytes are hashed at every load, never once for all; a lock that is not
// canonical, sorted and complete is refused whole; a module whose own manifest disagrees with the
// lock is refused.
package registry
