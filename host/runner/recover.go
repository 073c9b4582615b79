package runner

import (
	"context"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
)

// recoverAnswers books every complete answer that an earlier process stored and did not live to book. It
// runs before anything is swept or claimed: a job that may not go on any more, because its deadline
// passed, it was cancelled or a permission is gone, still owes what its answer says.
func (r *Runner) recoverAnswers(ctx context.Context) {
	rows, err := store.Read(ctx, r.Store, unanswered)
	if err != nil {
		r.Log.Error("looking for stored answers failed", "error", err)
		return
	}
	for _, row := range rows {
		if err := r.recoverAnswer(ctx, row); err != nil {
			r.Log.Error("booking a stored answer failed", "reservation", row.Id, "error", err)
		}
	}
}

// unanswered lists contacted calls of unfinished operations that have no answer on record.
func unanswered(s store.Reader) ([]*storev1.Reservation, error) {
	operations, err := operation.Unfinished(s)
	if err != nil {
		return nil, err
	}
	var open []*storev1.Reservation
	for _, id := range operations {
		rows, err := ledger.Of(s, id)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if ledger.Open(rows, row.JobId) && row.ContactedUs != 0 && row.ResponseSha256 == "" {
				open = append(open, row)
			}
		}
	}
	return open, nil
}

func (r *Runner) recoverAnswer(ctx context.Context, row *storev1.Reservation) error {
	admitted, err := store.Read(ctx, r.Store, func(s store.Reader) (research.Admitted, error) {
		op, err := operation.Get(s, row.Owner, row.OperationId)
		if err != nil {
			return research.Admitted{}, err
		}
		return research.DecodeAdmitted(op)
	})
	if err != nil {
		return err
	}
	limits := admitted.Governing.Research
	raw, found, err := r.Files.Recover(row.Owner, record.MaterializationID(row.JobId, research.OutputResponse), research.ResponseBytes(limits))
	if err != nil || !found {
		return err
	}
	answer, err := decodeAnswer(raw)
	if err != nil {
		return err
	}
	response := research.Response{SHA256: canon.Digest(raw), Size: len(raw), Stored: true}
	return r.respond(ctx, row.Owner, row.JobId, row.PayloadSha256, admitted.Governing.Route, response, answer.Charge)
}
