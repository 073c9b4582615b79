// Package board derives what operators see of an operation from its rows: one state, phrases for
// waiting, and a numbered history. It is a projection: it owns no job state, grants nothing and
// invents no attempt. Its only writes are history events, in the transaction that they describe.
package board
