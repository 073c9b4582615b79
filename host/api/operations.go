package api

import (
	"context"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/api/writ/v1/writv1connect"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/board"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
)

type operations struct{ Config }

var _ writv1connect.OperationsServiceHandler = (*operations)(nil)

func (s *operations) AdmitOperation(ctx context.Context, req *writv1.AdmitOperationRequest) (*writv1.AdmitOperationResponse, error) {
	if req.GetResearch() == nil {
		return nil, reason.Field(writv1.Reason_REASON_MISSING_FIELD, "research", "the request carries no input of a known capability")
	}
	earlier, err := store.Read(ctx, s.Store, func(r store.Reader) (*storev1.Operation, error) {
		return research.Duplicate(r, s.Owner, req.IdempotencyKey, researchInput(req.GetResearch()))
	})
	if err != nil {
		return nil, err
	}
	if earlier != nil && !req.ValidateOnly {
		view, err := s.show(ctx, earlier.Id)
		return &writv1.AdmitOperationResponse{Operation: view, Duplicate: true}, err
	}
	admission, err := s.researchRequest(req)
	if err != nil {
		return nil, err
	}
	if req.ValidateOnly {
		// A transition that writes nothing: it is run for its time, which is the store's.
		err := s.Store.Update(ctx, func(tx store.Tx) error { return research.Check(tx, admission, tx.Now()) })
		return &writv1.AdmitOperationResponse{}, err
	}
	var duplicate bool
	op, err := store.Do(ctx, s.Store, func(tx store.Tx) (op *storev1.Operation, err error) {
		op, duplicate, err = research.Admit(tx, admission)
		return op, err
	})
	if err != nil {
		return nil, err
	}
	view, err := s.show(ctx, op.Id)
	return &writv1.AdmitOperationResponse{Operation: view, Duplicate: duplicate}, err
}

func (s *operations) researchRequest(req *writv1.AdmitOperationRequest) (research.Request, error) {
	in := req.GetResearch()
	governing, err := s.Policy.Governing(in.Route)
	if err != nil {
		if typed, ok := reason.As(err); ok && typed.Field != "" {
			typed.Field = "research." + typed.Field
		}
		return research.Request{}, err
	}
	pins, err := s.Plugins.Pins(governing.Route)
	if err != nil {
		return research.Request{}, err
	}
	return research.Request{Owner: s.Owner, Key: req.IdempotencyKey, Input: researchInput(in), Governing: governing, Pins: pins}, nil
}

func researchInput(in *writv1.ResearchInput) research.Input {
	out := research.Input{
		Question: in.Question, Allowance: in.Allowance, Route: in.Route, Goal: in.Goal, GoalRevision: in.GoalRevision,
		Limits: research.Limits{DeadlineSeconds: int(in.GetLimits().GetDeadlineSeconds()), OutputTokens: int(in.GetLimits().GetOutputTokens())},
	}
	for _, slot := range in.Slots {
		next := research.Slot{Perspective: slot.Perspective}
		for _, use := range slot.Sources {
			next.Sources = append(next.Sources, research.SourceUse{
				SourceID: use.SourceId, SHA256: use.Sha256, FromLine: int(use.FromLine), ToLine: int(use.ToLine),
				ReadRevision: use.ReadRevision, EgressRevision: use.EgressRevision,
			})
		}
		out.Slots = append(out.Slots, next)
	}
	return out
}

func (s *operations) GetOperation(ctx context.Context, req *writv1.GetOperationRequest) (*writv1.GetOperationResponse, error) {
	if req.OperationId == "" {
		return nil, reason.Field(writv1.Reason_REASON_MISSING_FIELD, "operation_id", "empty")
	}
	view, err := s.show(ctx, req.OperationId)
	return &writv1.GetOperationResponse{Operation: view}, err
}

func (s *operations) ListOperations(ctx context.Context, req *writv1.ListOperationsRequest) (*writv1.ListOperationsResponse, error) {
	page, err := pageOf(req.PageSize, req.PageToken, record.HistoryPrefix(s.Owner))
	if err != nil {
		return nil, err
	}
	out := new(writv1.ListOperationsResponse)
	err = s.Store.View(ctx, func(r store.Reader) error {
		return page.walk(r, &out.NextPageToken, func(key []byte) error {
			snapshot, err := load(r, s.Owner, record.Last(key))
			if err == nil {
				out.Operations = append(out.Operations, snapshot.view())
			}
			return err
		})
	})
	return out, err
}

func (s *operations) CancelOperation(ctx context.Context, req *writv1.CancelOperationRequest) (*writv1.CancelOperationResponse, error) {
	err := s.decide(ctx, req.OperationId, s.Jobs.Cancel)
	if err != nil {
		return nil, err
	}
	view, err := s.show(ctx, req.OperationId)
	return &writv1.CancelOperationResponse{Operation: view}, err
}

func (s *operations) ResumeOperation(ctx context.Context, req *writv1.ResumeOperationRequest) (*writv1.ResumeOperationResponse, error) {
	err := s.decide(ctx, req.OperationId, s.Jobs.Resume)
	if err != nil {
		return nil, err
	}
	view, err := s.show(ctx, req.OperationId)
	return &writv1.ResumeOperationResponse{Operation: view}, err
}

// decide runs a transition on one operation of the caller.
func (s *operations) decide(ctx context.Context, id string, transition func(store.Tx, string) error) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		if _, err := operation.Get(tx, s.Owner, id); err != nil {
			return err
		}
		return transition(tx, id)
	})
}

// WatchOperation sends every event after the sequence that the caller has seen, in order and without a
// gap, and ends once the operation has ended.
func (s *operations) WatchOperation(ctx context.Context, req *writv1.WatchOperationRequest, stream writv1connect.OperationsServiceWatchOperationServerStream) error {
	after := req.AfterSequence
	for {
		changed := s.Store.Changed() // before reading, so that no event in between is missed
		var events []*storev1.Event
		ended, err := store.Read(ctx, s.Store, func(r store.Reader) (bool, error) {
			events = events[:0]
			snapshot, err := load(r, s.Owner, req.OperationId)
			if err != nil {
				return false, err
			}
			if after > snapshot.op.EventSeq {
				return false, reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "after_sequence", "%d, the latest is %d", after, snapshot.op.EventSeq)
			}
			err = board.Events(r, req.OperationId, after, func(e *storev1.Event) error {
				events = append(events, e)
				return nil
			})
			return board.Ended(board.State(snapshot.op, snapshot.jobs[0])), err
		})
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := stream.Send(&writv1.WatchOperationResponse{Event: eventView(e)}); err != nil {
				return err
			}
			after = e.Seq
		}
		if ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}
