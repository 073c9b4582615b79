package ledger

import (
	"slices"

	"github.com/writ-kernel/writ/abi/reason"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// Cause says why a job's rows are being cleaned up.
type Cause int

const (
	// Failure is the ordinary path: the job ended or blocked.
	Failure Cause = iota
	// Quiescence is a proven cancellation or expiry: nobody holds the job and nobody can contact again.
	Quiescence
)

// Open reports whether a contacted call of the job has no proven outcome. A free local model is no
// provider contact.
func Open(rows []*storev1.Reservation, job string) bool {
	return slices.ContainsFunc(rows, func(row *storev1.Reservation) bool {
		return row.JobId == job && row.State == contacted && !row.Rerunnable
	})
}

// Held reports whether a never-contacted hold of the job is kept.
func Held(rows []*storev1.Reservation, job string) bool {
	return slices.ContainsFunc(rows, func(row *storev1.Reservation) bool { return row.JobId == job && row.State == reserved })
}

// Cleanup decides the rows of a job that has ended. A never-contacted row is released; if a denial is
// stored on it, only Quiescence releases it, whatever the caller believes. A contacted row without a
// charge becomes Unknown, except that of a free local model, which cost nothing.
func Cleanup(tx store.Tx, job *storev1.Job, cause Cause, why *reason.Error) error {
	rows, err := Of(tx, job.OperationId)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.JobId != job.Id {
			continue
		}
		switch {
		case row.State == reserved && len(row.Denials) > 0 && cause != Quiescence:
		case row.State == reserved:
			err = change(tx, row, "released", func() { row.State, row.EndedUs = released, tx.Now() })
		case row.State == contacted && row.Rerunnable:
			err = Settle(tx, row.Id, row.PayloadSha256, "", Charge{Evidence: EvidenceLocal})
		case row.State == contacted:
			err = MarkUnknown(tx, row.Id, row.PayloadSha256, "", why)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
