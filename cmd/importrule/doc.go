// Package importrule holds the test of the repository's shape: which folder may import which, who
// may name a database engine, what the kernel must not be able to do, and that each package says
// what it is for. It owns no other code and nothing imports it.
//
// The rules are read from the source text of every file, whatever its build constraints, so that no
// platform and no tag hides a breach. Each rule is proven on a planted breach beside it.
package importrule
