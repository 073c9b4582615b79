package guard

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// Rule lets a child in one phase pass one boundary while its parent is in exactly this state for
// exactly this reason.
type Rule struct {
	Phase    string
	Boundary Boundary
	State    writv1.JobState
	Reason   writv1.Reason
}

// ParentTable is a capability's whole exception to "no child acts". What is not listed is denied.
type ParentTable []Rule

// Allows reports whether the table lists the combination.
func (t ParentTable) Allows(phase string, b Boundary, state writv1.JobState, why writv1.Reason) bool {
	for _, rule := range t {
		if rule == (Rule{phase, b, state, why}) {
			return true
		}
	}
	return false
}

// parentRule checks a child against its parent. A job without a parent passes.
func (g *Guard) parentRule(r store.Reader, b Boundary, job *storev1.Job, now int64) error {
	if job.Slot == 0 {
		return nil
	}
	var parent storev1.Job
	ok, err := record.Get(r, record.JobKey(record.JobID(job.OperationId, 0)), &parent)
	if err != nil {
		return err
	}
	if !ok || job.Lineage == nil || parent.Lineage == nil || job.Lineage.ParentJob != parent.Id {
		return reason.New(writv1.Reason_REASON_LINEAGE_MISMATCH, "job %s has no parent that created it", job.Id)
	}
	if job.Lineage.AttemptId != parent.Lineage.AttemptId || job.Lineage.Fence != parent.Lineage.Fence {
		return reason.New(writv1.Reason_REASON_LINEAGE_MISMATCH,
			"job %s was created under %s fence %d, its parent records %s fence %d",
			job.Id, job.Lineage.AttemptId, job.Lineage.Fence, parent.Lineage.AttemptId, parent.Lineage.Fence)
	}
	if parent.CancelRequested {
		return reason.New(writv1.Reason_REASON_CANCELLED, "the parent of job %s is being cancelled", job.Id)
	}
	if parent.DeadlineUs <= now {
		return reason.New(writv1.Reason_REASON_DEADLINE_EXCEEDED, "the parent of job %s is past its deadline", job.Id)
	}
	if !g.tables[job.Kind].Allows(job.Phase, b, parent.State, parent.Reason) {
		return reason.New(writv1.Reason_REASON_PARENT_RULE, "%s of job %s in phase %s is not allowed while its parent is %s %s",
			b, job.Id, job.Phase, parent.State, reason.Name(parent.Reason))
	}
	return nil
}
