package research

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/kernel/artifact"
	"github.com/writ-kernel/writ/kernel/board"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
)

func outputID(job *storev1.Job, output string) string {
	return record.MaterializationID(job.Id, output)
}

// Fund holds money for every slot together and lets the parent wait for its children, in one
// transaction. A refusal blocks the parent and funds nothing.
func (c *Research) Fund(tx store.Tx, t guard.Tenure, governing policies.Governing) error {
	s, err := guard.Held(tx, t)
	if err != nil {
		return err
	}
	admitted, err := DecodeAdmitted(s.Op)
	if err != nil {
		return err
	}
	var calls []ledger.Call
	for _, slot := range admitted.Slots {
		ready, ok, err := LoadPromptReady(tx, record.JobID(s.Op.Id, uint32(slot.Slot)))
		if err != nil {
			return err
		}
		if !ok {
			return c.unprepared(tx, s.Job)
		}
		calls = append(calls, ledger.Call{
			Slot: uint32(slot.Slot), PayloadSHA256: ready.PromptSHA256, PayloadBytes: ready.PromptBytes,
			OutputTokens: admitted.OutputTokens, Subset: slot.Subset, ProviderSHA256: admitted.Pins.Model.SHA256,
		})
	}
	_, refusal, err := c.ledger.Fund(tx, t, governing, calls)
	if err != nil {
		return err
	}
	if refusal != nil && refusal.Code == writv1.Reason_REASON_CHILD_UNPREPARED {
		return c.unprepared(tx, s.Job)
	}
	if refusal != nil {
		return c.jobs.Block(tx, s.Job, refusal)
	}
	if err := board.Append(tx, s.Job, "funded", ""); err != nil {
		return err
	}
	if err := c.jobs.Pause(tx, s.Job, writv1.Reason_REASON_RESEARCH_WAIT_CHILDREN, PhaseAssemble); err != nil {
		return err
	}
	return moved(tx, c.jobs, s.Op.Id)
}

// unprepared sends a parent that came to fund too late back to wait: a child ended meanwhile, so what
// follows is decided as it would have been then.
func (c *Research) unprepared(tx store.Tx, parent *storev1.Job) error {
	if err := c.jobs.Pause(tx, parent, writv1.Reason_REASON_RESEARCH_WAIT_SOURCES, PhaseFund); err != nil {
		return err
	}
	return moved(tx, c.jobs, parent.OperationId)
}

// Bind runs when a child is claimed: a synthesis claim moves its never-contacted reservation to the
// fence that was just granted.
func (c *Research) Bind(tx store.Tx, s *guard.Scope) error {
	if s.Job.Kind != ChildKind || s.Job.Phase != PhaseSynthesize {
		return nil
	}
	ready, ok, err := LoadPromptReady(tx, s.Job.Id)
	if err != nil {
		return err
	}
	if !ok {
		return reason.New(writv1.Reason_REASON_CHECKPOINT_MISMATCH, "job %s has no prompt", s.Job.Id)
	}
	tenure := guard.Tenure{Job: s.Job.Id, Holder: s.Job.Lease.Holder, Fence: s.Job.Fence}
	if _, err := c.guard.Authority(tx, guard.CostBind, tenure); err != nil {
		return err
	}
	return ledger.Rebind(tx, s.Job, record.ReservationID(s.Op.Id, s.Job.Slot), ready.PromptSHA256)
}

// Contact commits the marker before the one call of a slot, together with the promise of where its
// response will lie. A denial is committed, blocks the child and is returned.
func (c *Research) Contact(tx store.Tx, t guard.Tenure, payloadSHA256 string, governing policies.Governing) (denied *reason.Error, err error) {
	s, err := guard.Held(tx, t)
	if err != nil {
		return nil, err
	}
	row, denied, err := c.ledger.Contact(tx, t, record.ReservationID(s.Op.Id, s.Job.Slot), payloadSHA256, governing)
	if err != nil {
		return nil, err
	}
	if denied != nil {
		if err := board.Append(tx, s.Job, "contact_denied", denied.Error()); err != nil {
			return nil, err
		}
		return denied, c.jobs.BlockHeld(tx, t, denied)
	}
	if _, err := c.guard.Authority(tx, guard.ArtifactWrite, t); err != nil {
		return nil, err
	}
	if _, err := artifact.Reserve(tx, s.Job, OutputResponse, schemaResponse, ResponseBytes(governing.Research)); err != nil {
		return nil, err
	}
	return nil, board.Append(tx, s.Job, "contacted", row.Id)
}

// ResponseBytes bounds a stored raw response: the output, escaped at worst, and its envelope.
func ResponseBytes(c policies.Research) int { return 2*c.OutputBytes + 4096 }

// Response is a raw answer. Stored says that its bytes were stored and read back.
type Response struct {
	SHA256 string
	Size   int
	Stored bool
}

// Respond keeps a raw response and decides its cost, in one liability write: it asks for no lease and
// is never refused because something expired. A charge that is not proven keeps the bound held.
func (c *Research) Respond(tx store.Tx, job, payloadSHA256 string, response Response, charge *ledger.Charge) error {
	s, err := guard.Load(tx, job)
	if err != nil {
		return err
	}
	if err := adoptResponse(tx, s.Job, response); err != nil {
		return err
	}
	id := record.ReservationID(s.Op.Id, s.Job.Slot)
	if charge == nil {
		why := reason.New(writv1.Reason_REASON_COST_UNKNOWN, "the provider's answer proves no charge")
		if err := ledger.MarkUnknown(tx, id, payloadSHA256, response.SHA256, why); err != nil {
			return err
		}
		return board.Append(tx, s.Job, "cost_unknown", id)
	}
	if err := ledger.Settle(tx, id, payloadSHA256, response.SHA256, *charge); err != nil {
		return err
	}
	return board.Append(tx, s.Job, "settled", id)
}

// adoptResponse records where the answer lies. An answer that does not fit its promise is not adopted;
// its cost is booked all the same.
func adoptResponse(tx store.Tx, job *storev1.Job, response Response) error {
	if !response.Stored {
		return nil
	}
	err := artifact.Adopt(tx, outputID(job, OutputResponse), mediaJSON, response.SHA256, response.Size)
	if _, refused := reason.As(err); refused {
		return board.Append(tx, job, "answer_not_adopted", err.Error())
	}
	return err
}

// NotSent settles a contacted call at nothing: the live process proves that no request byte left. A
// liability write.
func (c *Research) NotSent(tx store.Tx, job, payloadSHA256 string) error {
	s, err := guard.Load(tx, job)
	if err != nil {
		return err
	}
	id := record.ReservationID(s.Op.Id, s.Job.Slot)
	if err := ledger.Settle(tx, id, payloadSHA256, "", ledger.Charge{Evidence: ledger.EvidenceNotSent}); err != nil {
		return err
	}
	return board.Append(tx, s.Job, "settled", id+" was not sent")
}

// Lost ends a child whose contacted call has no verified durable output: Unknown, never a second
// contact.
func (c *Research) Lost(tx store.Tx, t guard.Tenure, why *reason.Error) error {
	s, err := guard.Held(tx, t)
	if err != nil {
		return err
	}
	if s.Job.State == operation.Cancelling {
		return c.jobs.Quiesce(tx, t)
	}
	return c.jobs.EndUnknown(tx, s.Job, why)
}

// Output is a child's verified result: attributed claims with every citation as it was bound.
type Output struct {
	Perspective    string               `json:"perspective"`
	Claims         []wasm.DossierClaim  `json:"claims"`
	Uncertainty    string               `json:"uncertainty"`
	Contradictions []wasm.Contradiction `json:"contradictions"`
	ResponseSHA256 string               `json:"response_sha256"`
}

const checkpointOutput = "research.child_output"

// Finish records a child's output and ends it.
func (c *Research) Finish(tx store.Tx, t guard.Tenure, out Output) error {
	for _, b := range []guard.Boundary{guard.Readback, guard.Checkpoint, guard.Terminal} {
		if _, err := c.guard.Authority(tx, b, t); err != nil {
			return err
		}
	}
	s, err := guard.Load(tx, t.Job)
	if err != nil {
		return err
	}
	row, err := ledger.Get(tx, record.ReservationID(s.Op.Id, s.Job.Slot))
	if err != nil {
		return err
	}
	if row.ContactedUs == 0 || row.ResponseSha256 != out.ResponseSHA256 {
		return reason.New(writv1.Reason_REASON_ARTIFACT_MISMATCH, "the output of %s does not rest on its recorded response", t.Job)
	}
	if err := operation.Checkpoint(tx, s.Job, checkpointOutput, out); err != nil {
		return err
	}
	return c.jobs.Succeed(tx, s.Job, nil)
}

// LoadOutput reads a child's output.
func LoadOutput(r store.Reader, job string) (Output, bool, error) {
	var out Output
	ok, err := operation.Latest(r, job, checkpointOutput, &out)
	return out, ok, err
}
