package provider

import (
	"context"
	"errors"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// ErrNotSent marks a failure that happened before any byte of the request left the host.
var ErrNotSent = errors.New("no request byte was sent")

// notSent adds the mark and leaves the typed reason in the chain.
func notSent(err error) error { return &unsent{err} }

type unsent struct{ err error }

func (e *unsent) Error() string   { return e.err.Error() }
func (e *unsent) Unwrap() []error { return []error{e.err, ErrNotSent} }

// A permanent failure comes again on every start, so no further start is tried.
type permanent struct{ error }

func (e permanent) Unwrap() error { return e.error }

// interrupted words the end of the caller's or the host's patience.
func interrupted(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return reason.New(writv1.Reason_REASON_CANCELLED, "the call was given up: %w", context.Canceled)
	}
	return reason.New(writv1.Reason_REASON_DEADLINE_EXCEEDED, "no answer in time: %w", context.DeadlineExceeded)
}

// refused words an adapter's own error. The message is the adapter's and may repeat the prompt, so
// only the code goes on.
func refused(err error) error {
	code := status.Code(err)
	if code == codes.ResourceExhausted {
		return reason.Field(writv1.Reason_REASON_OUTPUT_TOO_LARGE, "message", "the answer is over the message bound")
	}
	return reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "the adapter refused the call with %s", code)
}

const maxQuoted = 200

// quoted makes foreign text safe for a log line or a reason: bounded, one line, ASCII.
func quoted(text string) string {
	if len(text) > maxQuoted {
		text = text[:maxQuoted] + "…"
	}
	return strconv.QuoteToASCII(text)
}
