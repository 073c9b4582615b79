package api

import (
	"context"
	"errors"
	"log/slog"

	"connectrpc.com/connect/v2"

	"github.com/writ-kernel/writ/abi/reason"
)

// Errors is the outermost interceptor: handlers return typed reasons as they are, and this is where
// they become Connect errors. Faults are logged with their cause, which the caller never sees.
func Errors(log *slog.Logger) connect.ServerInterceptor {
	return func(next connect.ServerFunc) connect.ServerFunc {
		return func(ctx context.Context, spec connect.Spec, stream connect.ServerStream) error {
			err := next(ctx, spec, stream)
			if err == nil {
				return nil
			}
			// A process that goes away ends its streams by cancelling them; its own reason tells the
			// client that the call can be made again elsewhere.
			if refusal, ok := reason.As(context.Cause(ctx)); ok && errors.Is(ctx.Err(), context.Canceled) {
				return ToConnect(refusal)
			}
			out := ToConnect(err)
			if code := connect.CodeOf(out); code == connect.CodeInternal || code == connect.CodeUnknown {
				log.LogAttrs(ctx, slog.LevelError, "call failed", slog.String("procedure", spec.Procedure), slog.Any("error", err))
			}
			return out
		}
	}
}
