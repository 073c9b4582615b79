package store

import (
	"fmt"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// PanicError is what Update returns when its transition panicked or left its goroutine. It wraps
// ErrPanic. Value and Stack are for a log; they may hold anything and go to no caller outside.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("%v: %v", ErrPanic, e.Value) }

func (e *PanicError) Unwrap() error { return ErrPanic }

// errUnknown is all that a caller learns; the cause goes to OnPoison, because an engine's message
// may name paths and keys.
func errUnknown() error {
	return reason.New(writv1.Reason_REASON_COMMIT_UNKNOWN, "%w", ErrCommitUnknown).
		WithNext("Restart the daemon: it finds out what was committed and goes on from there.")
}

func errTooLarge(l Limits) error {
	return reason.New(writv1.Reason_REASON_TOO_LARGE, "%w: more than %d bytes or %d rows", ErrTooLarge, l.Bytes, l.Writes)
}

func errBusy() error {
	e := reason.New(writv1.Reason_REASON_BUSY, "%w with other writers, again and again", ErrConflict).
		WithNext("Send the same request again.")
	e.Retryable = true
	return e
}
