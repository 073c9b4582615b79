// Package reason holds the typed reasons that cross a border: what was refused, where, and what to
// do next. The closed set of codes is the enum writ.v1.Reason; this package gives each its stable
// name and its advice, and carries one as a Go error.
package reason
