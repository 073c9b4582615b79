package main

import (
	"context"
	"errors"
	"fmt"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/visible"
	"github.com/writ-kernel/writ/host/api"
)

// refusal is the typed form of any error.
func refusal(err error) *reason.Error {
	if typed, ok := reason.As(err); ok { // also one that renamed what a server sent
		return typed
	}
	if typed, ok := api.FromConnect(err); ok {
		return typed
	}
	var stopped interrupted
	if errors.As(err, &stopped) || errors.Is(err, context.Canceled) {
		return &reason.Error{Code: writv1.Reason_REASON_CANCELLED, Detail: "interrupted; nothing was left running", Err: err}
	}
	return &reason.Error{Code: writv1.Reason_REASON_INTERNAL, Detail: err.Error(), Err: err}
}

// fail tells why a command could not do what it was asked and returns the exit code.
func (a *app) fail(err error) int {
	typed := refusal(err)
	message := typed.Detail
	if message == "" {
		message = reason.Name(typed.Code)
	}
	next := typed.Next
	if next == "" {
		next = advice[typed.Code]
	}
	text := message
	if typed.Field != "" {
		text = typed.Field + ": " + message
	}
	text = "writ: " + text
	if next != "" {
		text += "\n" + next
	}
	a.say("%s", visible.Text(text))
	if a.json {
		a.printJSON(map[string]any{"error": map[string]any{
			"reason": reason.Name(typed.Code), "field": typed.Field, "message": message, "next": next,
		}})
	}
	return exitOf(typed.Code)
}

// exitOf sorts reasons into exit codes: what the caller can correct is 2, what only the operator or
// a restart can is 1, and what the kernel refused on purpose is 3.
func exitOf(code reason.Code) int {
	switch code {
	case writv1.Reason_REASON_INVALID_INPUT, writv1.Reason_REASON_UNKNOWN_FIELD, writv1.Reason_REASON_DUPLICATE_FIELD,
		writv1.Reason_REASON_INVALID_UTF8, writv1.Reason_REASON_TOO_LARGE, writv1.Reason_REASON_OUT_OF_RANGE,
		writv1.Reason_REASON_MISSING_FIELD, writv1.Reason_REASON_NOT_FOUND, writv1.Reason_REASON_CONFLICT,
		writv1.Reason_REASON_REVISION_MISMATCH, writv1.Reason_REASON_NOT_OWNER, writv1.Reason_REASON_UNKNOWN_CAPABILITY,
		writv1.Reason_REASON_NOT_TEXT, writv1.Reason_REASON_EXCERPT_TOO_LARGE, writv1.Reason_REASON_PROMPT_TOO_LARGE:
		return exitInput
	case writv1.Reason_REASON_UNSPECIFIED, writv1.Reason_REASON_BUSY, writv1.Reason_REASON_STORE_FORMAT,
		writv1.Reason_REASON_STORE_HELD, writv1.Reason_REASON_COMMIT_UNKNOWN, writv1.Reason_REASON_INTERNAL:
		return exitFault
	}
	return exitUnended
}

// advice is what to do next where the refusal itself does not say.
var advice = map[reason.Code]string{
	writv1.Reason_REASON_CONFLICT:            "Use another --key, or repeat the first input exactly.",
	writv1.Reason_REASON_NOT_FOUND:           "Check the name; writ ops list and writ source list show what there is.",
	writv1.Reason_REASON_TOO_LARGE:           "Make it smaller.",
	writv1.Reason_REASON_NOT_TEXT:            "Sources are UTF-8 text without control characters; convert the file first.",
	writv1.Reason_REASON_EXCERPT_TOO_LARGE:   "Approve fewer lines with FILE:FROM-TO.",
	writv1.Reason_REASON_PROMPT_TOO_LARGE:    "Shorten the question, the perspective or the approved lines.",
	writv1.Reason_REASON_BUDGET_EXCEEDED:     "Raise --allowance, or wait until held money is released.",
	writv1.Reason_REASON_READ_NOT_GRANTED:    "Run again with a new --key and without --no-read.",
	writv1.Reason_REASON_EGRESS_NOT_GRANTED:  "Run again with a new --key and without --no-egress.",
	writv1.Reason_REASON_DEADLINE_EXCEEDED:   "Run again with a new --key.",
	writv1.Reason_REASON_REVISION_MISMATCH:   "Something changed in between; run again with a new --key.",
	writv1.Reason_REASON_BUSY:                "Try again in a moment.",
	writv1.Reason_REASON_COMMIT_UNKNOWN:      "Run the same command with the same --key again.",
	writv1.Reason_REASON_STORE_FORMAT:        "Use the version of writ that wrote this data directory, or a newer one.",
	writv1.Reason_REASON_INTERNAL:            "This is a fault of Writ or of the machine. Nothing that was admitted is lost: writ ops list shows it.",
	writv1.Reason_REASON_COST_UNKNOWN:        "A contacted call has no proven outcome; its money stays held and the call is never repeated.",
	writv1.Reason_REASON_CHILD_UNPREPARED:    "writ ops show tells which slot could not be prepared and why.",
	writv1.Reason_REASON_CHILD_ENDED_EARLY:   "writ ops show tells which slot ended and why.",
	writv1.Reason_REASON_OVERRUN_UNREVIEWED:  "A call cost more than its bound; it must be reviewed before more money moves.",
	writv1.Reason_REASON_PLUGIN_DIGEST:       "Build writ and its plugins together: make build.",
	writv1.Reason_REASON_UNKNOWN_CAPABILITY:  "This process does not offer that capability.",
	writv1.Reason_REASON_CONTACT_DENIED:      "writ ops show lists the denials.",
	writv1.Reason_REASON_LANE_BUSY:           "Try again in a moment.",
	writv1.Reason_REASON_ARTIFACT_MISMATCH:   "A file in the data directory is not what was recorded; it is not used.",
	writv1.Reason_REASON_CHECKPOINT_MISMATCH: "Two records disagree; writ ops show tells where.",
}

// outcome says in one sentence where an operation stands that did not complete.
func outcome(op *writv1.Operation) string {
	text := "operation " + op.GetOperationId() + " is " + stateName(op.GetState())
	if op.GetReason() != writv1.Reason_REASON_UNSPECIFIED {
		text += ": " + reason.Name(op.GetReason())
	}
	if op.GetDetail() != "" {
		text += fmt.Sprintf(" (%s)", op.GetDetail())
	}
	if next := advice[op.GetReason()]; next != "" {
		text += "\n" + next
	}
	return visible.Text(text)
}
