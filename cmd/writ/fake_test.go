package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/api/writ/v1/writv1connect"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/api"
	"github.com/writ-kernel/writ/host/daemon"
	"github.com/writ-kernel/writ/kernel/board"
)

// world stands for what is durable in a data directory, so that commands can be brought into states
// the real kernel only reaches by accident. Journeys through the real kernel are in testdata.
type world struct {
	mu      sync.Mutex
	changed chan struct{}
	ops     []*writv1.Operation
	events  map[string][]*writv1.OperationEvent
	inputs  map[string]*writv1.ResearchInput
	opens   int
	starts  int
	cancels int
}

func newWorld() *world {
	return &world{changed: make(chan struct{}), events: map[string][]*writv1.OperationEvent{}, inputs: map[string]*writv1.ResearchInput{}}
}

func (w *world) open(string, *slog.Logger) (daemon.Node, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opens++
	return &fakeNode{world: w}, nil
}

func (w *world) find(id string) (*writv1.Operation, error) {
	for _, op := range w.ops {
		if op.OperationId == id {
			return op, nil
		}
	}
	return nil, reason.Field(writv1.Reason_REASON_NOT_FOUND, "operation_id", "there is no such operation")
}

// move brings an operation into a state with one event.
func (w *world) move(id string, state writv1.OperationState, change func(*writv1.Operation)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moveLocked(id, state, change)
}

func (w *world) moveLocked(id string, state writv1.OperationState, change func(*writv1.Operation)) {
	op, err := w.find(id)
	if err != nil {
		panic(err)
	}
	op.State = state
	op.Sequence++
	if state == writv1.OperationState_OPERATION_STATE_COMPLETE || state == writv1.OperationState_OPERATION_STATE_INCOMPLETE {
		op.Research = &writv1.ResearchResult{Text: "a dossier\n", Dossier: &writv1.ArtifactRef{}, Manifest: &writv1.ArtifactRef{}, ManifestJson: "{}"}
	}
	if change != nil {
		change(op)
	}
	w.events[id] = append(w.events[id], &writv1.OperationEvent{
		OperationId: id, Sequence: op.Sequence, At: timestamppb.Now(), Kind: "claim", OperationState: state, Reason: op.Reason, Detail: op.Detail,
	})
	close(w.changed)
	w.changed = make(chan struct{})
}

// await returns once ok holds.
func (w *world) await(t *testing.T, ok func() bool) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		w.mu.Lock()
		changed, done := w.changed, ok()
		w.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Millisecond):
		case <-timeout:
			t.Fatal("never happened")
		}
	}
}

type fakeNode struct {
	writv1connect.UnimplementedOperationsServiceHandler
	writv1connect.UnimplementedSourcesServiceHandler
	world *world
}

func (n *fakeNode) Handler() http.Handler {
	server := connect.NewServer(api.Errors(slog.New(slog.DiscardHandler)))
	writv1connect.RegisterOperationsServiceHandler(server, n)
	writv1connect.RegisterSourcesServiceHandler(server, n)
	mux := http.NewServeMux()
	connecthttp.Mount(mux, server, api.ServerOptions()...)
	return mux
}

func (n *fakeNode) Start(context.Context) error {
	n.world.mu.Lock()
	defer n.world.mu.Unlock()
	n.world.starts++
	return nil
}

func (n *fakeNode) Drain(context.Context) (pending []string, err error) {
	n.world.mu.Lock()
	defer n.world.mu.Unlock()
	for _, op := range n.world.ops {
		if !board.Ended(op.State) {
			pending = append(pending, op.OperationId)
		}
	}
	return pending, nil
}

func (n *fakeNode) Close() error { return nil }

func (n *fakeNode) ImportSources(_ context.Context, req *writv1.ImportSourcesRequest) (*writv1.ImportSourcesResponse, error) {
	out := &writv1.ImportSourcesResponse{}
	for i, item := range req.Items {
		if bytes.Contains(item.Content, []byte("refuse me")) {
			return nil, reason.Field(writv1.Reason_REASON_NOT_TEXT, fmt.Sprintf("items[%d].content", i), "not wanted")
		}
		out.Sources = append(out.Sources, &writv1.ImportedSource{
			Source: &writv1.Source{
				SourceId: "src-" + item.Name, Name: item.Name, Sha256: canon.Digest(item.Content),
				Read: &writv1.SourceGrant{Granted: item.Read, Revision: 3}, Egress: &writv1.SourceGrant{Granted: item.Egress, Revision: 4},
			},
			FromLine: item.FromLine, ToLine: item.ToLine,
		})
	}
	return out, nil
}

func (n *fakeNode) ListSources(context.Context, *writv1.ListSourcesRequest) (*writv1.ListSourcesResponse, error) {
	return &writv1.ListSourcesResponse{Sources: []*writv1.Source{{SourceId: "src-a", Name: "a\u202e.md"}}}, nil
}

func (n *fakeNode) AdmitOperation(_ context.Context, req *writv1.AdmitOperationRequest) (*writv1.AdmitOperationResponse, error) {
	w := n.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, op := range w.ops {
		if op.IdempotencyKey == req.IdempotencyKey {
			if !proto.Equal(w.inputs[op.OperationId], req.GetResearch()) {
				return nil, reason.Field(writv1.Reason_REASON_CONFLICT, "idempotency_key", "was used with other input")
			}
			return &writv1.AdmitOperationResponse{Operation: op, Duplicate: true}, nil
		}
	}
	if req.ValidateOnly {
		return &writv1.AdmitOperationResponse{}, nil
	}
	op := &writv1.Operation{
		OperationId: fmt.Sprintf("op-%d", len(w.ops)+1), IdempotencyKey: req.IdempotencyKey, State: writv1.OperationState_OPERATION_STATE_QUEUED,
		Deadline: timestamppb.New(time.Unix(0, 0)), Money: &writv1.Money{Allowance: req.GetResearch().GetAllowance()},
	}
	w.ops = append(w.ops, op)
	w.inputs[op.OperationId] = req.GetResearch()
	w.moveLocked(op.OperationId, writv1.OperationState_OPERATION_STATE_RUNNING, nil)
	return &writv1.AdmitOperationResponse{Operation: proto.CloneOf(op)}, nil
}

func (n *fakeNode) GetOperation(_ context.Context, req *writv1.GetOperationRequest) (*writv1.GetOperationResponse, error) {
	n.world.mu.Lock()
	defer n.world.mu.Unlock()
	op, err := n.world.find(req.OperationId)
	return &writv1.GetOperationResponse{Operation: proto.CloneOf(op)}, err
}

// ListOperations answers in pages of one, so that paging shows.
func (n *fakeNode) ListOperations(_ context.Context, req *writv1.ListOperationsRequest) (*writv1.ListOperationsResponse, error) {
	n.world.mu.Lock()
	defer n.world.mu.Unlock()
	at := 0
	_, _ = fmt.Sscan(req.PageToken, &at)
	out := &writv1.ListOperationsResponse{}
	if at < len(n.world.ops) {
		out.Operations = append(out.Operations, proto.CloneOf(n.world.ops[at]))
	}
	if at+1 < len(n.world.ops) {
		out.NextPageToken = fmt.Sprint(at + 1)
	}
	return out, nil
}

func (n *fakeNode) CancelOperation(_ context.Context, req *writv1.CancelOperationRequest) (*writv1.CancelOperationResponse, error) {
	w := n.world
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancels++
	w.moveLocked(req.OperationId, writv1.OperationState_OPERATION_STATE_CANCELLING, nil)
	w.moveLocked(req.OperationId, writv1.OperationState_OPERATION_STATE_CANCELLED, func(op *writv1.Operation) { op.Reason = writv1.Reason_REASON_CANCELLED })
	op, err := w.find(req.OperationId)
	return &writv1.CancelOperationResponse{Operation: proto.CloneOf(op)}, err
}

func (n *fakeNode) ResumeOperation(_ context.Context, req *writv1.ResumeOperationRequest) (*writv1.ResumeOperationResponse, error) {
	n.world.mu.Lock()
	defer n.world.mu.Unlock()
	op, err := n.world.find(req.OperationId)
	if err != nil {
		return nil, err
	}
	if !board.Ended(op.State) {
		n.world.moveLocked(req.OperationId, writv1.OperationState_OPERATION_STATE_COMPLETE, nil)
	}
	return &writv1.ResumeOperationResponse{Operation: proto.CloneOf(op)}, nil
}

func (n *fakeNode) WatchOperation(ctx context.Context, req *writv1.WatchOperationRequest, stream writv1connect.OperationsServiceWatchOperationServerStream) error {
	for after := req.AfterSequence; ; {
		n.world.mu.Lock()
		changed := n.world.changed
		op, err := n.world.find(req.OperationId)
		events := n.world.events[req.OperationId]
		ended := board.Ended(op.GetState())
		n.world.mu.Unlock()
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Sequence > after {
				if err := stream.Send(&writv1.WatchOperationResponse{Event: e}); err != nil {
					return err
				}
				after = e.Sequence
			}
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
