package operation

import (
	"math"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/board"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// Claimed is a job under a fresh lease.
type Claimed struct {
	guard.Scope
	Tenure guard.Tenure
}

// Claim takes the first claimable job: a lost lease first, then the oldest that is ready. A job that
// may never run again is blocked in the same transaction, with the reason, and the next one is tried.
// bind runs in the claim's transaction once the job has its new fence. It returns nil when there is
// nothing to claim, and more when it stopped at its bound of refusals and may be called again.
func (j *Jobs) Claim(tx store.Tx, holder string, bind func(store.Tx, *guard.Scope) error) (claimed *Claimed, more bool, err error) {
	lost, err := upTo(tx, record.LeasedPrefix, record.LeasedKey(tx.Now(), ""))
	if err != nil {
		return nil, false, err
	}
	ready, err := upTo(tx, record.ReadyPrefix, store.PrefixEnd(record.ReadyPrefix))
	if err != nil {
		return nil, false, err
	}
	refusals := 0
	for _, r := range []keyRange{lost, ready} {
		claimed, err := j.claimFrom(tx, r, holder, bind, &refusals)
		if err != nil {
			return nil, false, err
		}
		if claimed != nil {
			return claimed, false, raiseMarks(tx)
		}
	}
	return nil, refusals == SweepLimit, nil
}

func (j *Jobs) claimFrom(tx store.Tx, r keyRange, holder string, bind func(store.Tx, *guard.Scope) error, refusals *int) (*Claimed, error) {
	for *refusals < SweepLimit {
		ids, rest, err := r.some(tx, SweepLimit)
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		for _, id := range ids {
			claimed, refused, err := j.claimOne(tx, id, holder, bind)
			if err != nil || claimed != nil {
				return claimed, err
			}
			if refused {
				*refusals++
			}
			if *refusals == SweepLimit {
				break
			}
		}
		r = rest
	}
	return nil, nil
}

// claimOne takes one job, or ends it and reports that it was refused.
func (j *Jobs) claimOne(tx store.Tx, id, holder string, bind func(store.Tx, *guard.Scope) error) (claimed *Claimed, refused bool, err error) {
	s, err := guard.Load(tx, id)
	if err != nil || s.Job.State == Cancelling {
		return nil, false, err // Sweep decides a cancelled one
	}
	refusal := j.guard.Claimable(tx, s)
	if refusal == nil {
		claimed, err = j.take(tx, s, holder, bind)
		return claimed, claimed == nil, err
	}
	why, ok := reason.As(refusal)
	if !ok {
		return nil, false, refusal
	}
	return nil, true, j.refuse(tx, s.Job, why)
}

// refuse ends a job that the guard will not let run, unless waiting may help or Sweep owns its end.
func (j *Jobs) refuse(tx store.Tx, job *storev1.Job, why *reason.Error) error {
	switch why.Code {
	case writv1.Reason_REASON_PARENT_RULE, writv1.Reason_REASON_CANCELLED, writv1.Reason_REASON_DEADLINE_EXCEEDED:
		return nil
	}
	return j.Block(tx, job, why)
}

func (j *Jobs) take(tx store.Tx, s *guard.Scope, holder string, bind func(store.Tx, *guard.Scope) error) (*Claimed, error) {
	var meta storev1.Store
	if _, err := record.Get(tx, record.StoreKey, &meta); err != nil {
		return nil, err
	}
	job := s.Job
	lost := job.State == Running
	if lost {
		if err := endAttempt(tx, job, writv1.Reason_REASON_LEASE_EXPIRED); err != nil {
			return nil, err
		}
	}
	err := j.move(tx, job, evClaim, writv1.Reason_REASON_UNSPECIFIED, "", func() {
		job.Fence++
		job.Resumable = false
		job.Lease = &storev1.Lease{Holder: holder, BootEpoch: meta.BootEpoch, ExpiresUs: leaseEnd(tx, job)}
		if job.AttemptId == "" || lost {
			job.Attempts++
			job.AttemptId = record.AttemptID(job.Id, job.Attempts)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := openAttempt(tx, job, holder); err != nil {
		return nil, err
	}
	if bind != nil {
		if err := bind(tx, s); err != nil {
			why, ok := reason.As(err)
			if !ok {
				return nil, err
			}
			return nil, j.Block(tx, job, why)
		}
	}
	return &Claimed{Scope: *s, Tenure: guard.Tenure{Job: job.Id, Holder: holder, Fence: job.Fence}}, nil
}

// Heartbeat renews a lease from now on.
func (j *Jobs) Heartbeat(tx store.Tx, t guard.Tenure) error {
	s, err := j.guard.Authority(tx, guard.Heartbeat, t)
	if err != nil {
		return err
	}
	return apply(tx, s.Job, func() { s.Job.Lease.ExpiresUs = leaseEnd(tx, s.Job) })
}

// leaseEnd is when a lease that is granted now expires; no lease outlives its job's deadline.
func leaseEnd(tx store.Tx, job *storev1.Job) int64 {
	return min(tx.Now()+LeaseTTL.Microseconds(), job.DeadlineUs)
}

// Attempt rows: one tenure from first claim until it ends.

func openAttempt(tx store.Tx, job *storev1.Job, holder string) error {
	key := record.AttemptKey(job.Id, job.Attempts)
	var attempt storev1.Attempt
	ok, err := record.Get(tx, key, &attempt)
	if err != nil || ok {
		return err // resumed after waiting: the same attempt goes on
	}
	return record.Put(tx, key, &storev1.Attempt{
		Id: job.AttemptId, JobId: job.Id, Holder: holder, FirstFence: job.Fence, StartedUs: tx.Now(),
	})
}

func endAttempt(tx store.Tx, job *storev1.Job, why writv1.Reason) error {
	if job.Attempts == 0 {
		return nil
	}
	key := record.AttemptKey(job.Id, job.Attempts)
	var attempt storev1.Attempt
	ok, err := record.Get(tx, key, &attempt)
	if err != nil || !ok || attempt.EndedUs != 0 {
		return err
	}
	attempt.EndedUs, attempt.Reason = tx.Now(), why
	return record.Put(tx, key, &attempt)
}

// Boot makes every lease of an earlier process claimable at once. On a store that one process owns,
// those holders are gone.
func Boot(tx store.Tx) error {
	var meta storev1.Store
	if _, err := record.Get(tx, record.StoreKey, &meta); err != nil {
		return err
	}
	all, err := upTo(tx, record.LeasedPrefix, store.PrefixEnd(record.LeasedPrefix))
	if err != nil {
		return err
	}
	held, _, err := all.some(tx, math.MaxInt)
	if err != nil {
		return err
	}
	for _, id := range held {
		job, err := Job(tx, id)
		if err != nil {
			return err
		}
		if job.Lease.BootEpoch >= meta.BootEpoch {
			continue
		}
		if err := apply(tx, job, func() { job.Lease.ExpiresUs = 0 }); err != nil {
			return err
		}
		if err := board.Append(tx, job, "lease_lost", "the process that held it is gone"); err != nil {
			return err
		}
	}
	return nil
}
