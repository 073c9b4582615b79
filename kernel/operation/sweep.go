package operation

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// SweepLimit is how many jobs one sweep ends at most, so that its transaction stays far below what an
// engine commits at once; looked is how many index rows it reads for them.
const (
	SweepLimit = 8
	looked     = 64
)

// Sweep ends what time has ended: unfinished jobs past their deadline that nobody holds, and
// cancelled jobs whose holder was lost. It ends at most limit jobs, and returns when the next job
// becomes due, 0 for never, and whether more may be waiting.
func (j *Jobs) Sweep(tx store.Tx, limit int) (next int64, more bool, err error) {
	ended := 0
	lost, err := expired(tx, record.LeasedPrefix, record.LeasedKey(tx.Now(), ""))
	if err != nil {
		return 0, false, err
	}
	for _, id := range lost {
		job, err := Job(tx, id)
		if err != nil {
			return 0, false, err
		}
		if job.State == Cancelling && ended < limit {
			ended++
			// Advancing the fence is what makes a lost holder's later word worthless.
			if err := apply(tx, job, func() { job.Fence++; job.Lease = nil }); err != nil {
				return 0, false, err
			}
			if err := j.quiesce(tx, job); err != nil {
				return 0, false, err
			}
		}
	}
	due, err := expired(tx, record.DuePrefix, record.DueKey(tx.Now()+1, ""))
	if err != nil {
		return 0, false, err
	}
	for _, id := range due {
		if ended == limit {
			break
		}
		did, err := j.expire(tx, id)
		if err != nil {
			return 0, false, err
		}
		if did {
			ended++
		}
	}
	next, err = nextDue(tx)
	return next, ended == limit, err
}

func expired(tx store.Tx, index, to []byte) ([]string, error) {
	r, err := upTo(tx, index, to)
	if err != nil {
		return nil, err
	}
	ids, _, err := r.some(tx, looked)
	return ids, err
}

// expire ends one job past its deadline, and reports whether it did. No lease outlives the deadline, so
// there is no live holder.
func (j *Jobs) expire(tx store.Tx, id string) (bool, error) {
	s, err := guard.Load(tx, id)
	if err != nil || s.Job.State == Cancelling {
		return false, err
	}
	if Ended(s.Job.State) {
		return true, releaseHeld(tx, s.Job)
	}
	live, err := guard.Live(tx, s.Job, tx.Now())
	if err != nil || live {
		return false, err
	}
	return true, j.Expire(tx, s.Job)
}

// releaseHeld releases the denied holds that an ended job kept: its deadline has passed, so nobody can
// contact for it any more.
func releaseHeld(tx store.Tx, job *storev1.Job) error {
	why := reason.New(writv1.Reason_REASON_DEADLINE_EXCEEDED, "the deadline passed")
	if err := ledger.Cleanup(tx, job, ledger.Quiescence, why); err != nil {
		return err
	}
	return apply(tx, job, func() { job.Held = false })
}

// Expire ends a job past its deadline, by its holder or by Sweep: never-contacted rows are released,
// a contacted one without proof is Unknown. A parent that ran out of time has failed; a child is
// blocked, so that the dossier can say what is missing.
func (j *Jobs) Expire(tx store.Tx, job *storev1.Job) error {
	why := reason.New(writv1.Reason_REASON_DEADLINE_EXCEEDED, "the deadline passed")
	if job.State == Running {
		// The fence moves so that a holder that comes back late can adopt nothing.
		if err := apply(tx, job, func() { job.Fence++ }); err != nil {
			return err
		}
	}
	if job.Slot == 0 {
		return j.end(tx, job, evFail, ledger.Quiescence, why)
	}
	return j.end(tx, job, evBlock, ledger.Quiescence, why)
}

// nextDue is the earliest moment at which Sweep has something to do.
func nextDue(tx store.Tx) (int64, error) {
	var earliest int64
	for _, index := range [][]byte{record.DuePrefix, record.LeasedPrefix} {
		r, err := upTo(tx, index, store.PrefixEnd(index))
		if err != nil {
			return 0, err
		}
		err = tx.Scan(r.from, r.to, func(k, _ []byte) error {
			at := record.SortableUS(k)
			if at <= tx.Now() {
				return nil // held by a live holder past its deadline, or claimable: not a wake-up of ours
			}
			if earliest == 0 || at < earliest {
				earliest = at
			}
			return store.ErrStop
		})
		if err != nil {
			return 0, err
		}
	}
	return earliest, nil
}
