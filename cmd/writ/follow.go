package main

import (
	"context"
	"errors"
	"io"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/client"
	"github.com/writ-kernel/writ/kernel/board"
)

const (
	// cancelPatience is how long a cancelled operation is watched for its end. A call that was
	// contacted may take its whole time to be settled.
	cancelPatience = time.Minute
	// watchPause keeps a watch that ends early from turning into a busy loop.
	watchPause = 100 * time.Millisecond
)

// follow watches an operation to its end, from one holder of the data directory to the next. An
// interrupt by hand cancels it when mayCancel is set; any other leaves it pending.
func (a *app) follow(ctx context.Context, s *session, progress *progress, id string, after uint64, mayCancel bool) (*writv1.Operation, error) {
	err := s.watch(ctx, id, &after, progress.event)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	calls := context.WithoutCancel(ctx)
	if ctx.Err() == nil {
		return s.get(calls, id)
	}
	if !mayCancel || !byHand(ctx) {
		op, err := s.get(calls, id)
		if err == nil && !board.Ended(op.GetState()) {
			err = &reason.Error{Code: writv1.Reason_REASON_CANCELLED, Operation: id, Detail: "interrupted; operation " + id + " is kept and not cancelled", Next: "Continue with: writ ops resume " + id}
		}
		return op, err
	}
	progress.note("cancelling; press Ctrl-C again to stop waiting")
	err = s.do(calls, func(c *client.Client) error {
		_, err := c.Operations.CancelOperation(calls, &writv1.CancelOperationRequest{OperationId: id})
		return err
	})
	if err != nil && !reason.Is(refusal(err), writv1.Reason_REASON_ILLEGAL_TRANSITION) { // it ended first
		return nil, err
	}
	limited, stop := context.WithTimeout(calls, cancelPatience)
	defer stop()
	if err := s.watch(limited, id, &after, progress.event); err != nil && limited.Err() == nil {
		return nil, err
	}
	op, err := s.get(calls, id)
	if err == nil {
		progress.note("%s", kept(op))
	}
	return op, err
}

// kept says what an interrupted operation leaves behind.
func kept(op *writv1.Operation) string {
	m := op.GetMoney()
	text := "kept: the operation's record, its sources and what was already written"
	if held := m.GetReserved() + m.GetContacted() + m.GetUnknown(); held > 0 {
		text += "; " + moneyLine(m)
	}
	return text
}

// watch calls event for each new event until the operation has ended. after is moved along, so that
// a watch that is resumed elsewhere sees no event twice.
func (s *session) watch(ctx context.Context, id string, after *uint64, event func(*writv1.OperationEvent)) error {
	for {
		ended := false
		err := s.do(ctx, func(c *client.Client) error {
			stream, err := c.Operations.WatchOperation(ctx, &writv1.WatchOperationRequest{OperationId: id, AfterSequence: *after})
			if err != nil {
				return err
			}
			defer stream.Close()
			for !ended {
				answer, err := stream.Receive()
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				s.losses = 0
				*after = answer.GetEvent().GetSequence()
				event(answer.GetEvent())
				ended = board.Ended(answer.GetEvent().GetOperationState())
			}
			return nil
		})
		if err != nil || ended {
			return err
		}
		// The stream may have ended because there was nothing left to tell.
		op, err := s.get(ctx, id)
		if err != nil || board.Ended(op.GetState()) {
			return err
		}
		if err := wait(ctx, watchPause); err != nil {
			return err
		}
	}
}

func (s *session) get(ctx context.Context, id string) (*writv1.Operation, error) {
	var answer *writv1.GetOperationResponse
	err := s.do(ctx, func(c *client.Client) error {
		var err error
		answer, err = c.Operations.GetOperation(ctx, &writv1.GetOperationRequest{OperationId: id})
		return err
	})
	return answer.GetOperation(), err
}
