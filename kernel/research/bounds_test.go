package research_test

import (
	"fmt"
	"strings"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
)

// crowd admits many operations whose rows are as large as input allows.
func (w *world) crowd(n int) {
	w.t.Helper()
	in := w.input("extractive", 2)
	in.Question = strings.Repeat("\"", 2048)
	for i := range in.Slots {
		in.Slots[i].Perspective = strings.Repeat("\"", 1024)
	}
	for i := range n {
		if _, _, err := w.admit(fmt.Sprint("crowd", i), in); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestASweepNeverOutgrowsACommitHoweverManyLargeOperationsAreDue(t *testing.T) {
	w := newWorld(t)
	w.crowd(100)
	w.clock.Advance(301 * second)
	for range 100 {
		var more bool
		w.do(func(tx store.Tx) (err error) {
			_, more, err = w.jobs.Sweep(tx, operation.SweepLimit)
			return err
		})
		if !more {
			break
		}
	}
	if left := read(w, operation.Unfinished); len(left) != 0 {
		t.Fatalf("%d operations are left", len(left))
	}
}

func TestAClaimRefusesBoundedlyAndAsksToBeCalledAgain(t *testing.T) {
	w := newWorld(t)
	w.crowd(100)
	w.do(func(tx store.Tx) error {
		root := new(storev1.Root)
		if _, err := record.Get(tx, record.RootKey(owner), root); err != nil {
			return err
		}
		root.RevokedUs = tx.Now()
		return record.Put(tx, record.RootKey(owner), root)
	})
	for calls := 1; ; calls++ {
		var more bool
		w.do(func(tx store.Tx) error {
			claimed, again, err := w.jobs.Claim(tx, "holder", nil)
			if claimed != nil {
				t.Error("claimed under a revoked root")
			}
			more = again
			return err
		})
		if !more {
			if want := 100/operation.SweepLimit + 1; calls != want {
				t.Fatalf("%d calls, want %d", calls, want)
			}
			return
		}
	}
}

func TestAnOperationIsFoundAgainUnderItsKeyWhateverPolicySaysNow(t *testing.T) {
	w := newWorld(t)
	in := w.input("extractive", 1)
	first, _, err := w.admit("k", in)
	if err != nil {
		t.Fatal(err)
	}
	w.policy.Research.QuestionBytes, w.policy.Ledger.OperationAllowance = 1, 1
	again, duplicate, err := w.admit("k", in)
	if err != nil || !duplicate || again.Id != first.Id {
		t.Fatalf("%v %v %v", again, duplicate, err)
	}
}

func TestADeniedHoldOfAnEndedOperationIsReleasedByItsDeadlineOrByCancel(t *testing.T) {
	denied := func(t *testing.T) (*world, string) {
		w := newWorld(t)
		op := w.toFunded(paid, 2)
		w.synthesize(1, paid, reported(paidB+1))
		if w.contact(w.mustClaim(2, research.PhaseSynthesize), paid) == nil {
			t.Fatal("not denied")
		}
		w.adopt(op)
		w.wantRow(op, 2, stReserved)
		return w, op
	}
	t.Run("deadline", func(t *testing.T) {
		w, op := denied(t)
		w.sweep()
		w.wantRow(op, 2, stReserved)
		w.clock.Advance(301 * second)
		w.sweep()
		w.wantRow(op, 2, stReleased)
	})
	t.Run("cancel", func(t *testing.T) {
		w, op := denied(t)
		w.do(func(tx store.Tx) error { return w.jobs.Cancel(tx, op) })
		w.wantRow(op, 2, stReleased)
		if got := w.state(op); got != writv1.OperationState_OPERATION_STATE_INCOMPLETE {
			t.Fatalf("an ended operation became %s", got)
		}
	})
}

func TestAContactedJobThatMayNotGoOnIsUnknownAndNotBlocked(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	if denied := w.contact(w.mustClaim(1, research.PhaseSynthesize), paid); denied != nil {
		t.Fatal(denied)
	}
	w.do(func(tx store.Tx) error {
		s, err := grantOf(tx, w.sources[0].Id)
		s.Read = &storev1.Grant{Revision: 2}
		return putSource(tx, s, err)
	})
	w.reboot()
	if c := w.claim(); c != nil && c.Job.Slot != 0 {
		t.Fatalf("claimed %v", c.Job)
	}
	w.wantJob(op, 1, operation.Unknown, writv1.Reason_REASON_READ_NOT_GRANTED)
	w.wantRow(op, 1, stUnknown)
}

func TestADeadlineIsDecidedByTheStoresClockAndNotByTheCaller(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	c := w.mustClaim(1, research.PhaseSynthesize)
	w.do(func(tx store.Tx) error {
		return w.jobs.BlockHeld(tx, c.Tenure, reason.New(writv1.Reason_REASON_DEADLINE_EXCEEDED, "the adapter took too long"))
	})
	if j := w.job(op, 1); j.State != operation.Blocked || j.Detail != "the adapter took too long" {
		t.Fatalf("%s: %s", j.State, j.Detail)
	}
}

func TestAShortOperationKeepsItsReserveForAssembly(t *testing.T) {
	w := newWorld(t)
	in := w.input("extractive", 1)
	in.Limits.DeadlineSeconds = 60
	op := w.mustAdmit(in)
	w.create(op)
	if left := w.job(op, 0).DeadlineUs - w.job(op, 1).DeadlineUs; left != (20 * second).Microseconds() {
		t.Fatalf("%d µs are left for assembly", left)
	}
}

func TestNoLeaseOutlivesItsJobsDeadline(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	w.clock.Advance(115 * second)
	c := w.mustClaim(1, research.PhaseSynthesize)
	w.do(func(tx store.Tx) error { return w.jobs.Heartbeat(tx, c.Tenure) })
	if j := w.job(op, 1); j.Lease.ExpiresUs != j.DeadlineUs {
		t.Fatalf("lease until %d, deadline %d", j.Lease.ExpiresUs, j.DeadlineUs)
	}
}

func TestAnAnswerThatCouldNotBeStoredCostsWhatItCosts(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	c := w.mustClaim(1, research.PhaseSynthesize)
	if denied := w.contact(c, paid); denied != nil {
		t.Fatal(denied)
	}
	lost := response
	lost.Stored = false
	w.do(func(tx store.Tx) error {
		return w.research.Respond(tx, c.Job.Id, ready(1).PromptSHA256, lost, reported(paidB+1))
	})
	if row := w.wantRow(op, 1, stSettled); row.Actual != paidB+1 {
		t.Fatalf("actual %d", row.Actual)
	}
	w.do(func(tx store.Tx) error {
		return w.jobs.BlockHeld(tx, c.Tenure, reason.New(writv1.Reason_REASON_INTERNAL, "disk"))
	})
	w.adopt(op)
	next, _, err := w.admit("next", w.input(paid, 1))
	if err != nil {
		t.Fatal(err)
	}
	w.create(next.Id)
	w.prepare(1)
	w.fund(paid)
	w.wantJob(next.Id, 0, operation.Blocked, writv1.Reason_REASON_OVERRUN_UNREVIEWED)
}

func TestALateAnswerWithoutAChargeKeepsItsDigestOnAnUnknownRow(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	c := w.mustClaim(1, research.PhaseSynthesize)
	if denied := w.contact(c, paid); denied != nil {
		t.Fatal(denied)
	}
	w.do(func(tx store.Tx) error { return w.jobs.Cancel(tx, op) })
	w.do(func(tx store.Tx) error { return w.jobs.Quiesce(tx, c.Tenure) })
	w.respond(c, nil)
	if row := w.wantRow(op, 1, stUnknown); row.ResponseSha256 != response.SHA256 {
		t.Fatalf("row %v", row)
	}
}

func TestAnExpiredOrSpentGoalIsRefusedAtAdmission(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*storev1.Goal)
		want writv1.Reason
	}{
		"expired": {func(g *storev1.Goal) { g.ExpiresUs = 1 }, writv1.Reason_REASON_GOAL_CHANGED},
		"spent":   {func(g *storev1.Goal) { g.Allowance = paidB - 1 }, writv1.Reason_REASON_BUDGET_EXCEEDED},
		"revoked": {func(g *storev1.Goal) { g.RevokedUs = 1 }, writv1.Reason_REASON_GOAL_CHANGED},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.do(func(tx store.Tx) error {
				goal := new(storev1.Goal)
				key := record.GoalKey(owner, record.GoalID([]byte("store"), owner))
				if _, err := record.Get(tx, key, goal); err != nil {
					return err
				}
				c.edit(goal)
				return record.Put(tx, key, goal)
			})
			_, _, err := w.admit("k", w.input(paid, 1))
			wantReason(t, err, c.want)
		})
	}
}

func TestAStoreOfANewerFormatOrAnotherOwnerIsRefusedUnchanged(t *testing.T) {
	w := newWorld(t)
	w.do(func(tx store.Tx) error {
		meta := new(storev1.Store)
		if _, err := record.Get(tx, record.StoreKey, meta); err != nil {
			return err
		}
		meta.Format = record.Format + 1
		return record.Put(tx, record.StoreKey, meta)
	})
	wantReason(t, w.try(w.open(1000)), writv1.Reason_REASON_STORE_FORMAT)
	w2 := newWorld(t)
	wantReason(t, w2.try(w2.open(1001)), writv1.Reason_REASON_NOT_OWNER)
}

func TestARowThatWasNeverContactedOrBindsAnotherPayloadTakesNoCharge(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	row := w.reservation(op, 1)
	err := w.try(func(tx store.Tx) error { return ledger.Settle(tx, row.Id, row.PayloadSha256, "", *reported(1)) })
	wantReason(t, err, writv1.Reason_REASON_ILLEGAL_TRANSITION)
	err = w.try(func(tx store.Tx) error {
		return ledger.MarkUnknown(tx, row.Id, "other", "", reason.New(writv1.Reason_REASON_COST_UNKNOWN, "x"))
	})
	wantReason(t, err, writv1.Reason_REASON_RESERVATION_MISMATCH)
	w.wantRow(op, 1, stReserved)
}
