package api

import (
	"context"
	"errors"
	"strings"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectproto"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/store"
)

// codes is the one place where a typed reason becomes a Connect code. A reason that describes a
// waiting or blocked job never leaves as an error, but has a code here all the same: the table is
// total, and a test holds it to the enum.
var codes = map[reason.Code]connect.Code{
	writv1.Reason_REASON_INVALID_INPUT:      connect.CodeInvalidArgument,
	writv1.Reason_REASON_UNKNOWN_FIELD:      connect.CodeInvalidArgument,
	writv1.Reason_REASON_DUPLICATE_FIELD:    connect.CodeInvalidArgument,
	writv1.Reason_REASON_INVALID_UTF8:       connect.CodeInvalidArgument,
	writv1.Reason_REASON_TOO_LARGE:          connect.CodeInvalidArgument,
	writv1.Reason_REASON_OUT_OF_RANGE:       connect.CodeInvalidArgument,
	writv1.Reason_REASON_MISSING_FIELD:      connect.CodeInvalidArgument,
	writv1.Reason_REASON_UNKNOWN_CAPABILITY: connect.CodeInvalidArgument,
	writv1.Reason_REASON_NOT_TEXT:           connect.CodeInvalidArgument,
	writv1.Reason_REASON_EXCERPT_TOO_LARGE:  connect.CodeInvalidArgument,
	writv1.Reason_REASON_PROMPT_TOO_LARGE:   connect.CodeInvalidArgument,

	writv1.Reason_REASON_NOT_FOUND:         connect.CodeNotFound,
	writv1.Reason_REASON_CONFLICT:          connect.CodeAlreadyExists,
	writv1.Reason_REASON_REVISION_MISMATCH: connect.CodeFailedPrecondition,
	writv1.Reason_REASON_NOT_OWNER:         connect.CodePermissionDenied,
	writv1.Reason_REASON_BUSY:              connect.CodeUnavailable,

	// A writer that lost its place may be right again after reading anew.
	writv1.Reason_REASON_STALE_FENCE:   connect.CodeAborted,
	writv1.Reason_REASON_LEASE_EXPIRED: connect.CodeAborted,
	writv1.Reason_REASON_NOT_CLAIMABLE: connect.CodeAborted,

	// The operation's own deadline, unlike the call's, does not come back by waiting longer.
	writv1.Reason_REASON_DEADLINE_EXCEEDED:  connect.CodeFailedPrecondition,
	writv1.Reason_REASON_JOB_NOT_RUNNING:    connect.CodeFailedPrecondition,
	writv1.Reason_REASON_PARENT_RULE:        connect.CodeFailedPrecondition,
	writv1.Reason_REASON_LINEAGE_MISMATCH:   connect.CodeFailedPrecondition,
	writv1.Reason_REASON_CANCELLED:          connect.CodeFailedPrecondition,
	writv1.Reason_REASON_ROOT_REVOKED:       connect.CodeFailedPrecondition,
	writv1.Reason_REASON_GOAL_CHANGED:       connect.CodeFailedPrecondition,
	writv1.Reason_REASON_READ_NOT_GRANTED:   connect.CodeFailedPrecondition,
	writv1.Reason_REASON_EGRESS_NOT_GRANTED: connect.CodeFailedPrecondition,
	writv1.Reason_REASON_POLICY_CHANGED:     connect.CodeFailedPrecondition,
	writv1.Reason_REASON_ILLEGAL_TRANSITION: connect.CodeFailedPrecondition,
	writv1.Reason_REASON_PLUGIN_DIGEST:      connect.CodeFailedPrecondition,

	writv1.Reason_REASON_RESEARCH_WAIT_SOURCES:  connect.CodeFailedPrecondition,
	writv1.Reason_REASON_RESEARCH_PROMPT_READY:  connect.CodeFailedPrecondition,
	writv1.Reason_REASON_RESEARCH_WAIT_CHILDREN: connect.CodeFailedPrecondition,

	writv1.Reason_REASON_OUTPUT_INVALID:      connect.CodeFailedPrecondition,
	writv1.Reason_REASON_OUTPUT_TOO_LARGE:    connect.CodeFailedPrecondition,
	writv1.Reason_REASON_PLUGIN_FAILED:       connect.CodeFailedPrecondition,
	writv1.Reason_REASON_CHECKPOINT_MISMATCH: connect.CodeFailedPrecondition,
	writv1.Reason_REASON_CHILD_UNPREPARED:    connect.CodeFailedPrecondition,
	writv1.Reason_REASON_CHILD_ENDED_EARLY:   connect.CodeFailedPrecondition,
	writv1.Reason_REASON_ARTIFACT_MISMATCH:   connect.CodeDataLoss,

	writv1.Reason_REASON_BUDGET_EXCEEDED:      connect.CodeResourceExhausted,
	writv1.Reason_REASON_OVERRUN_UNREVIEWED:   connect.CodeFailedPrecondition,
	writv1.Reason_REASON_GROUP_PARTIAL:        connect.CodeFailedPrecondition,
	writv1.Reason_REASON_RESERVATION_MISMATCH: connect.CodeFailedPrecondition,
	writv1.Reason_REASON_ALREADY_CONTACTED:    connect.CodeFailedPrecondition,
	writv1.Reason_REASON_COST_UNKNOWN:         connect.CodeFailedPrecondition,
	writv1.Reason_REASON_CONTACT_DENIED:       connect.CodeFailedPrecondition,
	writv1.Reason_REASON_LANE_BUSY:            connect.CodeUnavailable,

	writv1.Reason_REASON_STORE_FORMAT:   connect.CodeFailedPrecondition,
	writv1.Reason_REASON_STORE_HELD:     connect.CodeUnavailable,
	writv1.Reason_REASON_COMMIT_UNKNOWN: connect.CodeUnknown,
	writv1.Reason_REASON_INTERNAL:       connect.CodeInternal,
}

// ToConnect turns any error into the Connect error that leaves the process, with a
// writ.v1.ErrorDetail. The text of an error that is not a typed refusal stays inside; it remains
// the cause, for the log.
func ToConnect(err error) error {
	if err == nil {
		return nil
	}
	// A typed refusal that the transport wrapped while decoding is worth more than the wrapper.
	if refusal, ok := reason.As(err); ok {
		return fromReason(refusal, err)
	}
	var connectErr *connect.Error
	if errors.As(err, &connectErr) && !connectErr.IsRemote() {
		if _, ok := detailOf(connectErr); ok {
			return connectErr
		}
		return withDetail(connectErr, &writv1.ErrorDetail{Reason: reasonOfTransport(connectErr.Code()), Retryable: connectErr.Code() == connect.CodeUnavailable})
	}
	var field *canon.FieldError
	switch {
	case errors.Is(err, context.Canceled):
		return withDetail(connect.NewError(connect.CodeCanceled, "the call was cancelled").WithCause(err), &writv1.ErrorDetail{Reason: writv1.Reason_REASON_CANCELLED, Retryable: true})
	case errors.Is(err, context.DeadlineExceeded):
		return withDetail(connect.NewError(connect.CodeDeadlineExceeded, "the call ran out of time").WithCause(err), &writv1.ErrorDetail{Reason: writv1.Reason_REASON_DEADLINE_EXCEEDED, Retryable: true})
	case errors.Is(err, store.ErrClosed):
		return fromReason(&reason.Error{Code: writv1.Reason_REASON_BUSY, Detail: "the data directory is being closed", Retryable: true}, err)
	case errors.Is(err, store.ErrCommitUnknown):
		return fromReason(&reason.Error{
			Code: writv1.Reason_REASON_COMMIT_UNKNOWN, Detail: "the write may or may not have happened", Retryable: true,
			Next: "Send the same request with the same idempotency key again.",
		}, err)
	case errors.As(err, &field):
		return fromReason(&reason.Error{Code: reasonOfField(field), Field: field.Field, Detail: "is not valid"}, err)
	}
	return fromReason(&reason.Error{Code: writv1.Reason_REASON_INTERNAL}, err)
}

// FromConnect is the inverse for clients: the typed refusal a server sent. It reports false for
// errors that carry no detail, such as a broken connection.
func FromConnect(err error) (*reason.Error, bool) {
	var connectErr *connect.Error
	if !errors.As(err, &connectErr) {
		return nil, false
	}
	detail, ok := detailOf(connectErr)
	if !ok {
		return nil, false
	}
	message := connectErr.Message()
	if field := detail.GetField(); field != "" {
		message = strings.TrimPrefix(message, field+": ")
	}
	return &reason.Error{
		Code: detail.GetReason(), Field: detail.GetField(), Operation: detail.GetOperationId(),
		Detail: message, Retryable: detail.GetRetryable(), Next: detail.GetNext(), Err: err,
	}, true
}

const internalText = "an internal fault; the log of the process that holds the data directory has its cause"

func fromReason(refusal *reason.Error, cause error) error {
	code, known := codes[refusal.Code]
	text := refusal.Detail
	switch {
	case !known || code == connect.CodeInternal:
		code, text = connect.CodeInternal, internalText
	case text == "":
		text = reason.Name(refusal.Code)
	}
	if refusal.Field != "" {
		text = refusal.Field + ": " + text
	}
	return withDetail(connect.NewError(code, text).WithCause(cause), &writv1.ErrorDetail{
		Reason: refusal.Code, Field: refusal.Field, OperationId: refusal.Operation,
		Retryable: refusal.Retryable, Next: refusal.Next,
	})
}

func withDetail(err *connect.Error, detail *writv1.ErrorDetail) error {
	packed, packErr := connectproto.NewErrorDetail(detail)
	if packErr != nil {
		// Only text that is not UTF-8 cannot be packed; the code and message still say enough.
		return err
	}
	return err.WithDetail(packed)
}

func detailOf(err *connect.Error) (*writv1.ErrorDetail, bool) {
	for _, packed := range err.Details() {
		message, unpackErr := connectproto.UnmarshalErrorDetail(packed)
		if unpackErr != nil {
			continue
		}
		if detail, ok := message.(*writv1.ErrorDetail); ok {
			return detail, true
		}
	}
	return nil, false
}

// reasonOfTransport types what the transport itself refused, such as an oversized message.
func reasonOfTransport(code connect.Code) reason.Code {
	switch code {
	case connect.CodeInvalidArgument, connect.CodeUnimplemented:
		return writv1.Reason_REASON_INVALID_INPUT
	case connect.CodeResourceExhausted:
		return writv1.Reason_REASON_TOO_LARGE
	case connect.CodeDeadlineExceeded:
		return writv1.Reason_REASON_DEADLINE_EXCEEDED
	case connect.CodeCanceled:
		return writv1.Reason_REASON_CANCELLED
	case connect.CodeUnavailable:
		return writv1.Reason_REASON_BUSY
	case connect.CodePermissionDenied:
		return writv1.Reason_REASON_NOT_OWNER
	}
	return writv1.Reason_REASON_INTERNAL
}

func reasonOfField(err *canon.FieldError) reason.Code {
	switch {
	case err.Unknown:
		return writv1.Reason_REASON_UNKNOWN_FIELD
	case err.Duplicate:
		return writv1.Reason_REASON_DUPLICATE_FIELD
	case err.UTF8:
		return writv1.Reason_REASON_INVALID_UTF8
	}
	return writv1.Reason_REASON_INVALID_INPUT
}
