package runner

import (
	"context"
	"errors"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	border "github.com/writ-kernel/writ/abi/research"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/kernel/evidence"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
)

// synthesize makes the one call of a slot, or finds what an earlier process made of it, and binds every
// citation of the answer.
func (r *Runner) synthesize(ctx context.Context, c *operation.Claimed) error {
	p, err := r.preparation(ctx, c)
	if err != nil {
		return err
	}
	recorded, err := store.Read(ctx, r.Store, func(s store.Reader) (research.PromptReady, error) {
		ready, _, err := research.LoadPromptReady(s, c.Job.Id)
		return ready, err
	})
	if err != nil {
		return err
	}
	if recorded.PromptSHA256 != p.ready.PromptSHA256 {
		return reason.New(writv1.Reason_REASON_CHECKPOINT_MISMATCH, "the sources give another prompt than the one that was funded")
	}
	answer, digest, err := r.answer(ctx, c, p)
	if err != nil {
		return err
	}
	out, err := interpret(p, answer)
	if err != nil {
		return err
	}
	out.ResponseSHA256 = digest
	return r.Store.Update(ctx, func(tx store.Tx) error { return r.Research.Finish(tx, c.Tenure, out) })
}

// answer is the slot's stored answer with its digest: the one that is there, or the one that is made
// now. What is allowed follows from the reservation alone.
func (r *Runner) answer(ctx context.Context, c *operation.Claimed, p *preparation) (Answer, string, error) {
	row, err := store.Read(ctx, r.Store, func(s store.Reader) (*storev1.Reservation, error) {
		return ledger.Get(s, record.ReservationID(c.Op.Id, c.Job.Slot))
	})
	if err != nil {
		return Answer{}, "", err
	}
	switch {
	case row.ResponseSha256 != "":
		// Stored before an earlier process ended: read again, interpreted again, never called again.
		raw, err := r.Files.Read(c.Op.Owner, row.ResponseSha256, research.ResponseBytes(p.admitted.Governing.Research))
		if err != nil {
			return Answer{}, "", err
		}
		answer, err := decodeAnswer(raw)
		return answer, row.ResponseSha256, err
	case row.State == storev1.ReservationState_RESERVATION_STATE_RESERVED:
		if err := r.contact(ctx, c, p); err != nil {
			return Answer{}, "", err
		}
	case row.State == storev1.ReservationState_RESERVATION_STATE_CONTACTED:
		answer, digest, found, err := r.recover(ctx, c, p, row)
		if err != nil || found {
			return answer, digest, err
		}
		if !row.Rerunnable {
			return Answer{}, "", r.lost(ctx, c, reason.New(writv1.Reason_REASON_COST_UNKNOWN, "contacted before a restart; no complete answer was stored"))
		}
	default:
		return Answer{}, "", reason.New(writv1.Reason_REASON_ILLEGAL_TRANSITION, "the reservation of slot %d is %s", c.Job.Slot, ledger.StateName(row.State))
	}
	return r.call(ctx, c, p, row)
}

// errEnded says that the job has been ended already; drive has nothing left to do.
var errEnded = errors.New("job ended")

// contact commits the marker that precedes the call. A denial has ended the job by then.
func (r *Runner) contact(ctx context.Context, c *operation.Claimed, p *preparation) error {
	governing, err := r.Policy.Governing(p.admitted.Governing.RouteName)
	if err != nil {
		return err
	}
	if err := r.checkModel(ctx, p); err != nil {
		return err
	}
	denied, err := store.Do(ctx, r.Store, func(tx store.Tx) (*reason.Error, error) {
		return r.Research.Contact(tx, c.Tenure, p.ready.PromptSHA256, governing)
	})
	if err != nil {
		return err
	}
	if denied != nil {
		r.Log.Warn("contact denied", "job", c.Job.Id, "reason", reason.Name(denied.Code))
		return errEnded
	}
	return nil
}

// checkModel compares what the adapter says of itself with what policy admitted it as.
func (r *Runner) checkModel(ctx context.Context, p *preparation) error {
	route := p.admitted.Governing.Route
	facts, err := r.Models.Describe(ctx, p.admitted.Pins.Model, route.Model)
	if err != nil {
		return err
	}
	if facts.LanguageModel != route.LanguageModel || route.Deterministic && !facts.Deterministic {
		return reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "adapter %s does not describe model %s as policy does", route.Plugin, route.Model)
	}
	return nil
}

// call sends exactly the bytes that the reservation binds, stores the raw answer, and settles.
func (r *Runner) call(ctx context.Context, c *operation.Claimed, p *preparation, row *storev1.Reservation) (Answer, string, error) {
	limits := p.admitted.Governing.Research
	left, err := r.contactTime(ctx, c, p.admitted)
	if err != nil {
		return Answer{}, "", err
	}
	calling, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	answer, err := r.Models.Generate(calling, p.admitted.Pins.Model, Call{
		ID: row.Id, Model: p.admitted.Governing.Route.Model, Payload: p.prompt,
		OutputTokens: p.admitted.OutputTokens, OutputBytes: limits.OutputBytes,
	})
	if err != nil {
		if ctx.Err() != nil {
			return Answer{}, "", context.Cause(ctx)
		}
		why, typed := reason.As(err)
		if !typed {
			why = reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "the provider call did not finish: %w", err)
		}
		if row.Rerunnable {
			return Answer{}, "", why
		}
		if errors.Is(err, ErrNotSent) {
			return Answer{}, "", r.notSent(ctx, c, p, why)
		}
		return Answer{}, "", r.lost(ctx, c, why)
	}
	digest, err := r.keep(ctx, c, p, answer)
	return answer, digest, err
}

// keep stores a raw answer before anybody interprets it, and books its cost. Neither waits for a
// cancelled job: what arrived is kept. An answer that cannot be stored costs what it costs all the same.
func (r *Runner) keep(ctx context.Context, c *operation.Claimed, p *preparation, answer Answer) (string, error) {
	raw, err := canon.Marshal(answer)
	if err != nil {
		return "", err
	}
	promise := record.MaterializationID(c.Job.Id, research.OutputResponse)
	_, unstored := r.Files.Write(c.Op.Owner, promise, raw, research.ResponseBytes(p.admitted.Governing.Research))
	response := research.Response{SHA256: canon.Digest(raw), Size: len(raw), Stored: unstored == nil}
	if err := r.respond(ctx, c.Op.Owner, c.Job.Id, p.ready.PromptSHA256, p.admitted.Governing.Route, response, answer.Charge); err != nil {
		return "", err
	}
	return response.SHA256, unstored
}

// respond books an answer: a liability write, whatever became of its job.
func (r *Runner) respond(ctx context.Context, owner, job, payloadSHA256 string, route policies.Route, response research.Response, literal string) error {
	var charge *ledger.Charge
	if known, proven := ledger.Assess(route, literal); proven {
		charge = &known
	}
	err := r.Store.Update(context.WithoutCancel(ctx), func(tx store.Tx) error {
		return r.Research.Respond(tx, job, payloadSHA256, response, charge)
	})
	if err != nil || !response.Stored {
		return err
	}
	return r.Files.Settled(owner, record.MaterializationID(job, research.OutputResponse))
}

// recover adopts an answer that an earlier process stored completely before it ended.
func (r *Runner) recover(ctx context.Context, c *operation.Claimed, p *preparation, row *storev1.Reservation) (Answer, string, bool, error) {
	promise := record.MaterializationID(c.Job.Id, research.OutputResponse)
	raw, found, err := r.Files.Recover(c.Op.Owner, promise, research.ResponseBytes(p.admitted.Governing.Research))
	if err != nil || !found {
		return Answer{}, "", false, err
	}
	answer, err := decodeAnswer(raw)
	if err != nil {
		return Answer{}, "", false, nil //nolint:nilerr // an incomplete file is no answer
	}
	digest, err := r.keep(ctx, c, p, answer)
	return answer, digest, true, err
}

// notSent settles a contacted call at nothing, because its bytes never left, and says why it failed.
func (r *Runner) notSent(ctx context.Context, c *operation.Claimed, p *preparation, why *reason.Error) error {
	err := r.Store.Update(context.WithoutCancel(ctx), func(tx store.Tx) error {
		return r.Research.NotSent(tx, c.Job.Id, p.ready.PromptSHA256)
	})
	if err != nil {
		return err
	}
	return why
}

// lost ends the job as Unknown and tells drive so.
func (r *Runner) lost(ctx context.Context, c *operation.Claimed, why *reason.Error) error {
	err := r.Store.Update(context.WithoutCancel(ctx), func(tx store.Tx) error { return r.Research.Lost(tx, c.Tenure, why) })
	if err != nil {
		return err
	}
	return errEnded
}

func decodeAnswer(raw []byte) (Answer, error) {
	var answer Answer
	err := canon.Unmarshal(raw, &answer)
	return answer, err
}

// interpret decodes an answer strictly and binds each citation to what the slot was shown. Claims whose
// citations do not verify stay visible and are not adopted.
func interpret(p *preparation, answer Answer) (research.Output, error) {
	if answer.Finish == FinishOverflow {
		return research.Output{}, reason.New(writv1.Reason_REASON_OUTPUT_TOO_LARGE, "the answer is longer than the %d bytes that are allowed", p.admitted.Governing.Research.OutputBytes)
	}
	if answer.Finish != "stop" {
		return research.Output{}, reason.New(writv1.Reason_REASON_OUTPUT_INVALID, "the answer did not come to its end (finish %.32q)", answer.Finish)
	}
	limits := p.admitted.Governing.Research
	if len(answer.Text) > limits.OutputBytes {
		return research.Output{}, reason.New(writv1.Reason_REASON_OUTPUT_TOO_LARGE, "the answer has %d bytes, at most %d are allowed", len(answer.Text), limits.OutputBytes)
	}
	said, err := border.ParseChildOutput(answer.Text)
	if err != nil {
		return research.Output{}, err
	}
	if len(said.Claims) > limits.Claims || len(said.Contradictions) > limits.Contradictions {
		return research.Output{}, reason.New(writv1.Reason_REASON_OUTPUT_INVALID, "%d claims and %d contradictions, at most %d and %d are allowed",
			len(said.Claims), len(said.Contradictions), limits.Claims, limits.Contradictions)
	}
	out := research.Output{Perspective: p.slot.Perspective, Uncertainty: said.Uncertainty}
	for _, claim := range said.Claims {
		if len(claim.Citations) > limits.CitationsPerClaim {
			return research.Output{}, reason.New(writv1.Reason_REASON_OUTPUT_INVALID, "%d citations on one claim, at most %d are allowed", len(claim.Citations), limits.CitationsPerClaim)
		}
		bound := bind(p.table, claim.Citations)
		out.Claims = append(out.Claims, wasm.DossierClaim{Text: claim.Text, Adopted: evidence.Adopted(bound), Citations: bound})
	}
	for _, stated := range said.Contradictions {
		out.Contradictions = append(out.Contradictions, wasm.Contradiction{Text: stated.Text, Citations: bind(p.table, stated.Citations)})
	}
	return out, nil
}

func bind(table *evidence.Table, citations []border.Citation) []wasm.Citation {
	bound := []wasm.Citation{}
	for _, c := range citations {
		citation, _ := table.Bind(c.Passage, c.Quote)
		bound = append(bound, citation)
	}
	return bound
}
