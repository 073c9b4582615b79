package research_test

import (
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
)

func TestACancelledParentCreatesFundsAndAdoptsNothing(t *testing.T) {
	t.Run("create", func(t *testing.T) {
		w := newWorld(t)
		op := w.mustAdmit(w.input(paid, 1))
		c := w.mustClaim(0, research.PhaseCreate)
		w.do(func(tx store.Tx) error { return w.jobs.Cancel(tx, op) })
		wantReason(t, w.try(func(tx store.Tx) error { return w.research.Create(tx, c.Tenure) }), writv1.Reason_REASON_CANCELLED)
		wantReason(t, w.try(func(tx store.Tx) error { return w.jobs.Heartbeat(tx, c.Tenure) }), writv1.Reason_REASON_CANCELLED)
	})
	t.Run("fund", func(t *testing.T) {
		w := newWorld(t)
		op := w.mustAdmit(w.input(paid, 1))
		w.create(op)
		w.prepare(1)
		c := w.mustClaim(0, research.PhaseFund)
		w.do(func(tx store.Tx) error { return w.jobs.Cancel(tx, op) })
		wantReason(t, w.try(func(tx store.Tx) error { return w.research.Fund(tx, c.Tenure, w.governing(paid)) }), writv1.Reason_REASON_CANCELLED)
		if rows := w.reservations(op); len(rows) != 0 {
			t.Fatalf("%d rows", len(rows))
		}
	})
	t.Run("adopt", func(t *testing.T) {
		w := newWorld(t)
		op := w.toFunded(paid, 1)
		w.synthesize(1, paid, reported(1))
		c := w.mustClaim(0, research.PhaseAssemble)
		result := w.assembled(op, c)
		w.do(func(tx store.Tx) error { return w.jobs.Cancel(tx, op) })
		wantReason(t, w.try(func(tx store.Tx) error { return w.research.Adopt(tx, c.Tenure, result) }), writv1.Reason_REASON_CANCELLED)
	})
}

func TestAJobPastItsDeadlineIsNotClaimedEvenBeforeASweep(t *testing.T) {
	w := newWorld(t)
	op := w.mustAdmit(w.input("extractive", 1))
	w.create(op)
	w.clock.Advance(121 * second)
	if c := w.claim(); c != nil {
		t.Fatalf("claimed %s in phase %s", c.Job.Id, c.Job.Phase)
	}
	w.sweep()
	w.wantJob(op, 1, operation.Blocked, writv1.Reason_REASON_DEADLINE_EXCEEDED)
}

func TestALeaseOfAnEarlierBootIsDeadThoughItsTimeIsNotOver(t *testing.T) {
	w := newWorld(t)
	op := w.mustAdmit(w.input("extractive", 1))
	w.create(op)
	c := w.mustClaim(1, research.PhasePrepare)
	live := func() bool {
		job := w.job(op, 1)
		return read(w, func(r store.Reader) (bool, error) { return guard.Live(r, job, job.Lease.ExpiresUs-1) })
	}
	if !live() {
		t.Fatal("a fresh lease is dead")
	}
	w.do(func(tx store.Tx) error {
		meta := new(storev1.Store)
		if _, err := record.Get(tx, record.StoreKey, meta); err != nil {
			return err
		}
		meta.BootEpoch++
		return record.Put(tx, record.StoreKey, meta)
	})
	if live() {
		t.Fatal("a lease outlived the process it was given to")
	}
	wantReason(t, w.try(func(tx store.Tx) error { return w.jobs.Heartbeat(tx, c.Tenure) }), writv1.Reason_REASON_LEASE_EXPIRED)
}
