// Package visible owns the one rule by which text of others is made safe to show: which code points
// hide, reorder or fake what a reader sees, and how they stand in print. What a person approves and
// what a program checks must be the same characters, so kernel, modules and command line share it.
//
// It depends on Unicode's own properties, so that new characters follow the tables, and on nothing
// else, so that a small module stays small. It never changes what is stored.
package visible
