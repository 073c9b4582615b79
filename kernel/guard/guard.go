package guard

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// Tenure is who says that they act: the holder of one job under one fence.
type Tenure struct {
	Job    string
	Holder string
	Fence  uint64
}

// Scope is what a check read and found in order. Op is a copy for reading; only board and operation
// write operation rows.
type Scope struct {
	Op  *storev1.Operation
	Job *storev1.Job
}

// Guard checks authority under the parent tables of every capability.
type Guard struct {
	tables map[string]ParentTable
}

// New makes a guard from parent tables by child job kind.
func New(tables map[string]ParentTable) *Guard { return &Guard{tables: tables} }

// Authority passes a holder through a boundary, or says why not.
func (g *Guard) Authority(tx store.Tx, b Boundary, t Tenure) (*Scope, error) {
	s, err := Held(tx, t)
	if err != nil {
		return nil, err
	}
	return s, g.checks(tx, b, s)
}

// Claimable passes a job that nobody holds through the claim boundary, or says why not.
func (g *Guard) Claimable(tx store.Tx, s *Scope) error { return g.checks(tx, Claim, s) }

func (g *Guard) checks(tx store.Tx, b Boundary, s *Scope) error {
	if s.Op.CancelRequested || s.Job.CancelRequested {
		return reason.New(writv1.Reason_REASON_CANCELLED, "operation %s is being cancelled", s.Op.Id)
	}
	if s.Job.DeadlineUs <= tx.Now() || s.Op.DeadlineUs <= tx.Now() {
		return reason.New(writv1.Reason_REASON_DEADLINE_EXCEEDED, "job %s is past its deadline", s.Job.Id)
	}
	if err := authorityRows(tx, s.Op, tx.Now()); err != nil {
		return err
	}
	if err := Sources(tx, s.Op.Owner, s.Job.Sources, b.needsEgress() && s.Job.Slot != 0); err != nil {
		return err
	}
	return g.parentRule(tx, b, s.Job, tx.Now())
}

// Held checks tenure alone: the caller holds this running job under this fence and its lease lives.
// It is enough to end one's own work, and never enough for anything else.
func Held(tx store.Tx, t Tenure) (*Scope, error) {
	s, err := Load(tx, t.Job)
	if err != nil {
		return nil, err
	}
	lease := s.Job.Lease
	if s.Job.Fence != t.Fence || lease == nil || lease.Holder != t.Holder {
		return nil, reason.New(writv1.Reason_REASON_STALE_FENCE, "job %s is at fence %d, the caller holds %d", t.Job, s.Job.Fence, t.Fence)
	}
	if s.Job.State != writv1.JobState_JOB_STATE_RUNNING && s.Job.State != writv1.JobState_JOB_STATE_CANCELLING {
		return nil, reason.New(writv1.Reason_REASON_JOB_NOT_RUNNING, "job %s is %s", t.Job, s.Job.State)
	}
	live, err := Live(tx, s.Job, tx.Now())
	if err != nil {
		return nil, err
	}
	if !live {
		return nil, reason.New(writv1.Reason_REASON_LEASE_EXPIRED, "the lease on job %s has expired", t.Job)
	}
	return s, nil
}

// Live reports whether a job's lease still holds: not expired and, on a store that one process owns,
// granted since that process opened it.
func Live(r store.Reader, job *storev1.Job, now int64) (bool, error) {
	if job.Lease == nil || job.Lease.ExpiresUs <= now {
		return false, nil
	}
	var meta storev1.Store
	if _, err := record.Get(r, record.StoreKey, &meta); err != nil {
		return false, err
	}
	return job.Lease.BootEpoch >= meta.BootEpoch, nil
}

// Load reads a job and its operation.
func Load(r store.Reader, jobID string) (*Scope, error) {
	s := &Scope{Op: new(storev1.Operation), Job: new(storev1.Job)}
	if ok, err := record.Get(r, record.JobKey(jobID), s.Job); err != nil {
		return nil, err
	} else if !ok {
		return nil, reason.New(writv1.Reason_REASON_NOT_FOUND, "job %s does not exist", jobID)
	}
	if ok, err := record.Get(r, record.OperationKey(s.Job.OperationId), s.Op); err != nil {
		return nil, err
	} else if !ok {
		return nil, reason.New(writv1.Reason_REASON_NOT_FOUND, "operation %s does not exist", s.Job.OperationId)
	}
	return s, nil
}
