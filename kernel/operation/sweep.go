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

// sweepBatch bounds the work of one sweep; the caller sweeps again while it is full.
const sweepBatch = 64

// Sweep ends what time has ended: unfinished jobs past their deadline that nobody holds, and
// cancelled jobs whose holder was lost. It returns when the next job becomes due, 0 for never, and
// whether it stopped at its bound.
func (j *Jobs) Sweep(tx store.Tx) (next int64, more bool, err error) {
	lost, err := expired(tx, record.LeasedPrefix, record.LeasedKey(tx.Now(), ""))
	if err != nil {
		return 0, false, err
	}
	for _, id := range lost {
		job, err := Job(tx, id)
		if err != nil {
			return 0, false, err
		}
		if job.State == Cancelling {
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
		if err := j.expire(tx, id); err != nil {
			return 0, false, err
		}
	}
	next, err = nextDue(tx)
	return next, len(due) == sweepBatch || len(lost) == sweepBatch, err
}

func expired(tx store.Tx, index, to []byte) ([]string, error) {
	r, err := upTo(tx, index, to)
	if err != nil {
		return nil, err
	}
	ids, _, err := r.some(tx, sweepBatch)
	return ids, err
}

// expire ends one job past its deadline. A live holder ends its own job first: its lease cannot be
// renewed any more, so it is lost soon.
func (j *Jobs) expire(tx store.Tx, id string) error {
	s, err := guard.Load(tx, id)
	if err != nil || Ended(s.Job.State) || s.Job.State == Cancelling {
		return err
	}
	live, err := guard.Live(tx, s.Job, tx.Now())
	if err != nil || live {
		return err
	}
	return j.Expire(tx, s.Job)
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
	switch {
	case job.State == Running && mustBeUnknown(tx, job):
		return j.end(tx, job, evUnknown, ledger.Quiescence, why)
	case job.Slot == 0:
		return j.end(tx, job, evFail, ledger.Quiescence, why)
	}
	return j.end(tx, job, evBlock, ledger.Quiescence, why)
}

func mustBeUnknown(tx store.Tx, job *storev1.Job) bool {
	e, _, err := quiescedAs(tx, job)
	return err == nil && e == evUnknown
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
