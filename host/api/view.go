package api

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/kernel/board"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// snapshot is everything that is shown of an operation, read at one moment.
type snapshot struct {
	op       *storev1.Operation
	jobs     []*storev1.Job
	sum      *storev1.Sum
	rows     []*storev1.Reservation
	readable bool
}

func load(r store.Reader, owner, id string) (*snapshot, error) {
	op, err := operation.Get(r, owner, id)
	if err != nil {
		return nil, err
	}
	s := &snapshot{op: op}
	if s.jobs, err = operation.Of(r, id); err != nil {
		return nil, err
	}
	if s.sum, err = ledger.Sum(r, id); err != nil {
		return nil, err
	}
	if s.rows, err = ledger.Of(r, id); err != nil {
		return nil, err
	}
	s.readable = guard.Readable(r, owner, s.jobs[0].Sources) == nil
	return s, nil
}

func (s *snapshot) view() *writv1.Operation {
	op := s.op
	parent := s.jobs[0]
	view := &writv1.Operation{
		OperationId: op.Id, Capability: op.Capability, IdempotencyKey: op.IdempotencyKey,
		State: board.State(op, parent), Reason: parent.Reason, Detail: parent.Detail,
		CreatedAt: stamp(op.CreatedUs), Deadline: stamp(op.DeadlineUs), EndedAt: stamp(op.EndedUs),
		InputSha256: op.InputSha256, AdmittedSha256: op.AdmittedSha256, PolicyRevision: op.PolicyRevision,
		Money: &writv1.Money{
			Allowance: op.Allowance, Reserved: s.sum.Reserved, Contacted: s.sum.Contacted, Settled: s.sum.Settled, Unknown: s.sum.Unknown,
		},
		Sequence: op.EventSeq,
	}
	for _, job := range s.jobs {
		view.Jobs = append(view.Jobs, &writv1.Job{
			JobId: job.Id, Kind: job.Kind, Slot: job.Slot, State: job.State, Reason: job.Reason, Detail: job.Detail,
			Fence: job.Fence, AttemptId: job.AttemptId, Deadline: stamp(job.DeadlineUs), Waiting: board.Waiting(job),
		})
	}
	for _, row := range s.rows {
		view.Receipts = append(view.Receipts, receiptView(row))
	}
	return view
}

func receiptView(row *storev1.Reservation) *writv1.Receipt {
	receipt := &writv1.Receipt{
		ReservationId: row.Id, Slot: row.Slot, State: ledger.StateName(row.State), Deployment: row.Deployment, Route: row.Route,
		Period: row.Period, Bound: row.Bound, Actual: row.Actual, Evidence: row.Evidence, PayloadSha256: row.PayloadSha256,
		ResponseSha256: row.ResponseSha256, ProviderSha256: row.ProviderSha256, ContactedAt: stamp(row.ContactedUs),
	}
	for _, d := range row.Denials {
		receipt.Denials = append(receipt.Denials, &writv1.Denial{Reason: d.Reason, Detail: d.Detail, At: stamp(d.AtUs)})
	}
	return receipt
}

func eventView(e *storev1.Event) *writv1.OperationEvent {
	return &writv1.OperationEvent{
		OperationId: e.OperationId, Sequence: e.Seq, At: stamp(e.AtUs), JobId: e.JobId, Slot: e.Slot, Kind: e.Kind,
		State: e.State, Reason: e.Reason, Detail: e.Detail, Fence: e.Fence, OperationState: e.OperationState,
	}
}

func stamp(us int64) *timestamppb.Timestamp {
	if us == 0 {
		return nil
	}
	return timestamppb.New(time.UnixMicro(us))
}

// show is one operation with its adopted result, if every source it discloses may be read now.
func (c *Config) show(ctx context.Context, id string) (*writv1.Operation, error) {
	s, err := store.Read(ctx, c.Store, func(r store.Reader) (*snapshot, error) { return load(r, c.Owner, id) })
	if err != nil {
		return nil, err
	}
	view := s.view()
	if s.op.DossierSha256 == "" || !s.readable {
		return view, nil
	}
	if view.Research, err = c.result(s.op); err != nil {
		// What the records say is shown all the same; that the files are gone is said beside it.
		c.Log.Error("a result cannot be read back", "operation", id, "error", err)
		view.Detail = "the result of this operation is missing from the data directory or was changed there: " + err.Error()
	}
	return view, nil
}

// resultBytes bounds a dossier or manifest that is read back: the hard ceiling, because a policy that
// was narrowed later says nothing about results that were adopted before.
const resultBytes = 64 << 10

// result reads the adopted files back by digest.
func (c *Config) result(op *storev1.Operation) (*writv1.ResearchResult, error) {
	text, err := c.Files.Read(op.Owner, op.DossierSha256, resultBytes)
	if err != nil {
		return nil, fmt.Errorf("dossier %.12s: %w", op.DossierSha256, err)
	}
	manifest, err := c.Files.Read(op.Owner, op.ManifestSha256, resultBytes)
	if err != nil {
		return nil, fmt.Errorf("manifest %.12s: %w", op.ManifestSha256, err)
	}
	var dossier wasm.Dossier
	if err := canon.Unmarshal(manifest, &dossier); err != nil {
		return nil, err
	}
	result := &writv1.ResearchResult{
		Dossier: c.ref(op.Owner, op.DossierSha256, len(text), "text/plain; charset=utf-8"), Text: string(text),
		Manifest: c.ref(op.Owner, op.ManifestSha256, len(manifest), "application/json"), ManifestJson: string(manifest),
	}
	for _, slot := range dossier.Slots {
		for _, claim := range slot.Claims {
			result.Claims = append(result.Claims, claimView(slot.Slot, claim))
		}
	}
	return result, nil
}

func (c *Config) ref(owner, sha256 string, size int, media string) *writv1.ArtifactRef {
	return &writv1.ArtifactRef{
		Artifact: "artifact:" + sha256, Sha256: sha256, Size: uint64(size), MediaType: media, Path: c.Files.Path(owner, sha256),
	}
}

func claimView(slot int, claim wasm.DossierClaim) *writv1.ResearchClaim {
	view := &writv1.ResearchClaim{Slot: uint32(slot), Text: claim.Text, Adopted: claim.Adopted}
	for _, c := range claim.Citations {
		view.Citations = append(view.Citations, &writv1.Citation{
			Source: c.Source, Name: c.Name, RawSha256: c.RawSHA256, TextSha256: c.TextSHA256, Normalizer: c.Normalizer,
			Start: uint32(c.Start), End: uint32(c.End), RawStart: uint32(c.RawStart), RawEnd: uint32(c.RawEnd),
			Quote: c.Quote, SpanSha256: c.SpanSHA256, Status: c.Status, SourceText: c.SourceText, Passage: c.Passage,
			FromLine: uint32(c.FromLine), ToLine: uint32(c.ToLine), Role: c.Role,
		})
	}
	return view
}
