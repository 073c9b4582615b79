package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/store"
)

func TestEveryReasonHasACode(t *testing.T) {
	for number, name := range writv1.Reason_name {
		if number == 0 {
			continue
		}
		if _, ok := codes[reason.Code(number)]; !ok {
			t.Errorf("%s has no Connect code", name)
		}
	}
}

func TestErrorSurvivesTheWireForm(t *testing.T) {
	in := &reason.Error{
		Code: writv1.Reason_REASON_OUT_OF_RANGE, Field: "items[1].to_line", Operation: "op", Detail: "line 9 of 3",
		Retryable: true, Next: "Use a line from 1 to 3.",
	}
	out := ToConnect(fmt.Errorf("import: %w", in))
	if connect.CodeOf(out) != connect.CodeInvalidArgument || !strings.Contains(out.Error(), "items[1].to_line: line 9 of 3") {
		t.Errorf("got %v", out)
	}
	got, ok := FromConnect(out)
	if !ok {
		t.Fatal("no detail")
	}
	if got.Code != in.Code || got.Field != in.Field || got.Operation != in.Operation || got.Detail != in.Detail || !got.Retryable || got.Next != in.Next {
		t.Errorf("got %+v, want %+v", got, in)
	}
}

func TestFaultsDoNotTellTheirText(t *testing.T) {
	for _, fault := range []error{
		errors.New("secret"),
		reason.New(writv1.Reason_REASON_INTERNAL, "secret"),
		connect.NewError(connect.CodeInternal, "secret").WithRemote(),
		fmt.Errorf("%w: secret", store.ErrPanic),
	} {
		out := ToConnect(fault)
		if connect.CodeOf(out) != connect.CodeInternal || strings.Contains(out.Error(), "secret") {
			t.Errorf("%v became %v", fault, out)
		}
		if !errors.Is(out, fault) {
			t.Errorf("%v lost its cause", fault)
		}
	}
}

func TestKnownFaultsAreTyped(t *testing.T) {
	for _, c := range []struct {
		err  error
		code connect.Code
		want reason.Code
	}{
		{context.Canceled, connect.CodeCanceled, writv1.Reason_REASON_CANCELLED},
		{context.DeadlineExceeded, connect.CodeDeadlineExceeded, writv1.Reason_REASON_DEADLINE_EXCEEDED},
		{store.ErrClosed, connect.CodeUnavailable, writv1.Reason_REASON_BUSY},
		{store.ErrCommitUnknown, connect.CodeUnknown, writv1.Reason_REASON_COMMIT_UNKNOWN},
		{connect.NewError(connect.CodeResourceExhausted, "message is larger"), connect.CodeResourceExhausted, writv1.Reason_REASON_TOO_LARGE},
	} {
		out := ToConnect(c.err)
		got, ok := FromConnect(out)
		if !ok || got.Code != c.want || connect.CodeOf(out) != c.code {
			t.Errorf("%v became %v with %v", c.err, out, got)
		}
	}
	if ToConnect(nil) != nil {
		t.Error("no error became one")
	}
}
