package operation

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/tlog"
)

// Cancel marks an operation and every unfinished job in one transaction: no funding, contact or
// adoption commits after it. Jobs that nobody holds are quiescent at once; the others stay
// cancelling until their holder ends them or its lease is lost. Cancelling again, or an operation
// that has ended, changes nothing.
func (j *Jobs) Cancel(tx store.Tx, operation string) error {
	jobs, err := Of(tx, operation)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		return reason.New(writv1.Reason_REASON_NOT_FOUND, "operation %s does not exist", operation)
	}
	parent := jobs[0]
	if parent.CancelRequested {
		return nil
	}
	if Ended(parent.State) && parent.State != Blocked {
		return releaseAllHeld(tx, jobs)
	}
	var op storev1.Operation
	err = EditOperation(tx, operation, func(row *storev1.Operation) {
		row.CancelRequested = true
		op.Owner, op.Id = row.Owner, row.Id
	})
	if err != nil {
		return err
	}
	if _, err := tlog.AppendRecord(tx, "operation.cancel_requested", op.Owner, operation, parent); err != nil {
		return err
	}
	// The parent last: it is cancelled once every child is.
	for i := len(jobs) - 1; i >= 0; i-- {
		job, err := Job(tx, jobs[i].Id) // ending a sibling may have changed it
		if err != nil {
			return err
		}
		if Ended(job.State) && job.State != Blocked {
			continue
		}
		if job.State == Blocked && job.Slot != 0 {
			if err := releaseHeld(tx, job); err != nil {
				return err
			}
			continue
		}
		err = j.move(tx, job, evCancel, writv1.Reason_REASON_CANCELLED, "", func() { job.CancelRequested, job.Resumable = true, false })
		if err != nil {
			return err
		}
		if job.Lease == nil {
			if err := j.quiesce(tx, job); err != nil {
				return err
			}
		}
	}
	return nil
}

// releaseAllHeld releases what ended jobs still hold after a denial. An operation that has ended cannot
// contact again, and an operator asked for its end.
func releaseAllHeld(tx store.Tx, jobs []*storev1.Job) error {
	for _, job := range jobs {
		if !job.Held {
			continue
		}
		if err := releaseHeld(tx, job); err != nil {
			return err
		}
	}
	return nil
}

// Quiesce is the holder's word that it acts no more for a cancelled job.
func (j *Jobs) Quiesce(tx store.Tx, t guard.Tenure) error {
	s, err := guard.Held(tx, t)
	if err != nil {
		return err
	}
	return j.quiesce(tx, s.Job)
}

// quiesce ends a cancelling job that nobody can act for: its never-contacted rows are released, a
// contacted one becomes Unknown. A parent waits for its children first.
func (j *Jobs) quiesce(tx store.Tx, job *storev1.Job) error {
	if job.State != Cancelling {
		return nil
	}
	if job.Slot == 0 {
		waits, err := unfinished(tx, job.OperationId)
		if err != nil {
			return err
		}
		if waits {
			return apply(tx, job, func() { job.Lease = nil })
		}
	}
	e, why, err := quiescedAs(tx, job)
	if err != nil {
		return err
	}
	if err := j.end(tx, job, e, ledger.Quiescence, why); err != nil {
		return err
	}
	if job.Slot == 0 {
		return nil
	}
	parent, err := Job(tx, record.JobID(job.OperationId, 0))
	if err != nil {
		return err
	}
	if parent.State == Cancelling && parent.Lease == nil {
		return j.quiesce(tx, parent)
	}
	return nil
}

// quiescedAs tells cancelled from Unknown: a contacted call without a proven outcome is Unknown.
func quiescedAs(tx store.Tx, job *storev1.Job) (event, *reason.Error, error) {
	rows, err := ledger.Of(tx, job.OperationId)
	if err != nil {
		return "", nil, err
	}
	for _, row := range rows {
		if row.JobId == job.Id && (ledger.Open(rows, job.Id) || row.State == storev1.ReservationState_RESERVATION_STATE_UNKNOWN) {
			return evUnknown, reason.New(writv1.Reason_REASON_COST_UNKNOWN, "cancelled after contact; the cost is not proven and its bound stays held"), nil
		}
	}
	return evQuiesce, cancelledWhy(), nil
}

func cancelledWhy() *reason.Error {
	return reason.New(writv1.Reason_REASON_CANCELLED, "cancelled by the operator")
}

func unfinished(r store.Reader, operation string) (bool, error) {
	children, err := Children(r, operation)
	for _, child := range children {
		if !Ended(child.State) {
			return true, err
		}
	}
	return false, err
}

// Resume decides an operation again from durable state. A parent that was blocked by something
// outside, a plugin that failed or was missing, is queued again for the same phase within the same
// deadline; everything else is left as it truthfully is. It renews nothing.
func (j *Jobs) Resume(tx store.Tx, operation string) error {
	parent, err := Job(tx, record.JobID(operation, 0))
	if err != nil {
		return err
	}
	for _, c := range j.capabilities {
		if c.ParentKind == parent.Kind && parent.State == Paused {
			if err := c.Moved(tx, j, operation); err != nil {
				return err
			}
		}
	}
	if parent.State != Blocked || !retryable(parent.Reason) || parent.DeadlineUs <= tx.Now() {
		return nil
	}
	if err := j.move(tx, parent, evRetry, writv1.Reason_REASON_UNSPECIFIED, "", func() { parent.EndedUs, parent.AttemptId = 0, "" }); err != nil {
		return err
	}
	return EditOperation(tx, operation, func(op *storev1.Operation) {
		op.EndedUs, op.Reason, op.Detail = 0, writv1.Reason_REASON_UNSPECIFIED, ""
	})
}

// retryable lists blocks whose cause lies outside the operation and is not money or permission.
func retryable(code writv1.Reason) bool {
	return code == writv1.Reason_REASON_PLUGIN_FAILED || code == writv1.Reason_REASON_PLUGIN_DIGEST
}
