package research_test

import (
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
)

func TestAGroupIsFundedWholeUnderOneLogEntryWithTheParentsPause(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 2)
	w.wantJob(op, 0, operation.Paused, writv1.Reason_REASON_RESEARCH_WAIT_CHILDREN)
	for slot := range uint32(2) {
		row := w.wantRow(op, slot+1, stReserved)
		if row.Bound != paidB || row.PayloadSha256 != canon.Digest(prompt(slot+1)) || row.ContactedUs != 0 {
			t.Fatalf("row %v", row)
		}
	}
	if err := w.store.View(t.Context(), func(r store.Reader) error { return ledger.Whole(r, op) }); err != nil {
		t.Fatal(err)
	}
}

func TestAGroupThatDoesNotFitIsNotFundedAtAllAndBlocks(t *testing.T) {
	cases := map[string]struct {
		change func(w *world)
		want   writv1.Reason
	}{
		"deployment's day": {func(w *world) { w.policy.Ledger.DeploymentDay = 2*paidB - 1 }, writv1.Reason_REASON_BUDGET_EXCEEDED},
		"owner's day":      {func(w *world) { w.policy.Ledger.OwnerDay = 2*paidB - 1 }, writv1.Reason_REASON_BUDGET_EXCEEDED},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.change(w) // before admission, so that the policy does not move afterwards
			op := w.mustAdmit(w.input(paid, 2))
			w.create(op)
			w.prepare(1)
			w.prepare(2)
			w.fund(paid)
			w.wantJob(op, 0, operation.Blocked, c.want)
			w.wantJob(op, 1, operation.Blocked, c.want)
			if rows := w.reservations(op); len(rows) != 0 {
				t.Fatalf("%d rows of a group that was refused", len(rows))
			}
		})
	}
}

func TestTheGoalsGrantBoundsEveryOperationTogether(t *testing.T) {
	w := newWorld(t)
	op := w.mustAdmit(w.input(paid, 2))
	w.do(func(tx store.Tx) error {
		goal := new(storev1.Goal)
		key := record.GoalKey(owner, record.GoalID([]byte("store"), owner))
		if _, err := record.Get(tx, key, goal); err != nil {
			return err
		}
		goal.Allowance = paidB
		return record.Put(tx, key, goal)
	})
	_, _, err := w.admit("another", w.input(paid, 2))
	wantReason(t, err, writv1.Reason_REASON_BUDGET_EXCEEDED)
	w.create(op)
	w.prepare(1)
	w.prepare(2)
	w.fund(paid)
	w.wantJob(op, 0, operation.Blocked, writv1.Reason_REASON_BUDGET_EXCEEDED)
}

func TestAnAllowanceThatCannotHoldEveryCallIsRefusedAtAdmission(t *testing.T) {
	w := newWorld(t)
	in := w.input(paid, 2)
	in.Allowance = 2*paidB - 1
	_, _, err := w.admit("k", in)
	wantReason(t, err, writv1.Reason_REASON_BUDGET_EXCEEDED)
	if e, _ := reason.As(err); e.Field != "research.allowance" {
		t.Fatalf("field %q", e.Field)
	}
}

func TestAPolicyThatMovedBlocksFundingAndContact(t *testing.T) {
	moved := func(w *world) {
		route := w.policy.Routes[paid]
		route.Price.PerCall--
		w.policy.Routes[paid] = route
	}
	t.Run("funding", func(t *testing.T) {
		w := newWorld(t)
		op := w.mustAdmit(w.input(paid, 1))
		w.create(op)
		w.prepare(1)
		moved(w)
		w.fund(paid)
		w.wantJob(op, 0, operation.Blocked, writv1.Reason_REASON_POLICY_CHANGED)
	})
	t.Run("contact", func(t *testing.T) {
		w := newWorld(t)
		op := w.toFunded(paid, 1)
		c := w.mustClaim(1, research.PhaseSynthesize)
		moved(w)
		if denied := w.contact(c, paid); denied == nil || denied.Code != writv1.Reason_REASON_POLICY_CHANGED {
			t.Fatal(denied)
		}
		w.wantRow(op, 1, stReserved)
	})
}

func TestFundingAgainIsTheSameGroupAndAnythingElseIsRefused(t *testing.T) {
	w := newWorld(t)
	op := w.mustAdmit(w.input(paid, 1))
	w.create(op)
	w.prepare(1)
	parent := w.mustClaim(0, research.PhaseFund)
	call := ledger.Call{
		Slot: 1, PayloadSHA256: canon.Digest(prompt(1)), PayloadBytes: len(prompt(1)), OutputTokens: 1024, Subset: paidB,
		ProviderSHA256: canon.Digest([]byte("m")),
	}
	fund := func(call ledger.Call) (group *storev1.Group, refusal *reason.Error) {
		t.Helper()
		w.do(func(tx store.Tx) (err error) {
			group, refusal, err = w.ledger.Fund(tx, parent.Tenure, w.governing(paid), []ledger.Call{call})
			return err
		})
		return group, refusal
	}
	small := call
	small.Subset = paidB - 1
	if _, refusal := fund(small); refusal == nil || refusal.Code != writv1.Reason_REASON_BUDGET_EXCEEDED {
		t.Fatalf("a bound above its subset: %v", refusal)
	}
	first, refusal := fund(call)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if again, refusal := fund(call); refusal != nil || again.Sha256 != first.Sha256 || again.Leaf != first.Leaf {
		t.Fatalf("%v %v", again, refusal)
	}
	other := call
	other.PayloadSHA256 = canon.Digest([]byte("other"))
	if _, refusal := fund(other); refusal == nil || refusal.Code != writv1.Reason_REASON_GROUP_PARTIAL {
		t.Fatalf("another payload under the same group: %v", refusal)
	}
	w.sumsAgree(op)
	if rows := w.reservations(op); len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
}

func TestAPartialGroupIsNeverToppedUp(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 2)
	w.do(func(tx store.Tx) error { return tx.Delete(record.ReservationKey(record.ReservationID(op, 2))) })
	if c := w.claim(); c != nil {
		t.Fatalf("a child of a partial group was claimed: %v", c.Job)
	}
	w.wantJob(op, 1, operation.Blocked, writv1.Reason_REASON_GROUP_PARTIAL)
}

func TestAContactedCallIsNeverContactedAgain(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	c := w.mustClaim(1, research.PhaseSynthesize)
	if denied := w.contact(c, paid); denied != nil {
		t.Fatal(denied)
	}
	contact := func(c *operation.Claimed) error {
		return w.try(func(tx store.Tx) error {
			_, err := w.research.Contact(tx, c.Tenure, canon.Digest(prompt(1)), w.governing(paid))
			return err
		})
	}
	wantReason(t, contact(c), writv1.Reason_REASON_ALREADY_CONTACTED)
	w.reboot()
	again := w.mustClaim(1, research.PhaseSynthesize)
	wantReason(t, contact(again), writv1.Reason_REASON_ALREADY_CONTACTED)
	w.do(func(tx store.Tx) error {
		return w.research.Lost(tx, again.Tenure, reason.New(writv1.Reason_REASON_COST_UNKNOWN, "restart"))
	})
	w.wantJob(op, 1, operation.Unknown, writv1.Reason_REASON_COST_UNKNOWN)
	if row := w.wantRow(op, 1, stUnknown); row.Bound != paidB {
		t.Fatalf("bound %d", row.Bound)
	}
	w.adopt(op)
	if got := w.state(op); got != writv1.OperationState_OPERATION_STATE_INCOMPLETE {
		t.Fatalf("state %s", got)
	}
}

func TestContactBindsTheExactPayload(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	c := w.mustClaim(1, research.PhaseSynthesize)
	var denied *reason.Error
	w.do(func(tx store.Tx) (err error) {
		denied, err = w.research.Contact(tx, c.Tenure, canon.Digest([]byte("other")), w.governing(paid))
		return err
	})
	if denied == nil || denied.Code != writv1.Reason_REASON_RESERVATION_MISMATCH {
		t.Fatal(denied)
	}
	w.wantRow(op, 1, stReserved)
}

func TestAnOverrunIsKeptWholeAndDeniesTheFundedSiblingForGood(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 2)
	w.synthesize(1, paid, reported(paidB+1))
	if row := w.wantRow(op, 1, stSettled); row.Actual != paidB+1 {
		t.Fatalf("actual %d", row.Actual)
	}
	c := w.mustClaim(2, research.PhaseSynthesize)
	denied := w.contact(c, paid)
	if denied == nil || denied.Code != writv1.Reason_REASON_OVERRUN_UNREVIEWED {
		t.Fatal(denied)
	}
	check := func() {
		row := w.wantRow(op, 2, stReserved)
		if row.ContactedUs != 0 || len(row.Denials) != 1 || row.Bound != paidB {
			t.Fatalf("row %v", row)
		}
		w.wantJob(op, 2, operation.Blocked, writv1.Reason_REASON_OVERRUN_UNREVIEWED)
	}
	check()
	w.reboot()
	check()
	w.adopt(op) // the ordinary end of the operation cleans up and must honour the denial
	check()

	// The deployment is closed to every other operation too.
	next, _, err := w.admit("other", w.input(paid, 1))
	if err != nil {
		t.Fatal(err)
	}
	w.create(next.Id)
	w.prepare(1)
	w.fund(paid)
	w.wantJob(next.Id, 0, operation.Blocked, writv1.Reason_REASON_OVERRUN_UNREVIEWED)
}

func TestAnUnprovenChargeKeepsTheBoundHeldAndTheAnswer(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	w.synthesize(1, paid, nil)
	w.adopt(op)
	row := w.wantRow(op, 1, stUnknown)
	if row.ResponseSha256 != response.SHA256 {
		t.Fatal("the answer was dropped with its price")
	}
	// Late evidence lands in the same row and period.
	w.do(func(tx store.Tx) error {
		return ledger.Settle(tx, row.Id, row.PayloadSha256, row.ResponseSha256, *reported(4000))
	})
	if late := w.wantRow(op, 1, stSettled); late.Period != row.Period || late.Actual != 4000 {
		t.Fatalf("late settlement %v", late)
	}
}

func TestSettlingIsIdempotentAndAnotherChargeIsAConflict(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	w.synthesize(1, paid, reported(4000))
	row := w.reservation(op, 1)
	settle := func(charge *ledger.Charge) error {
		return w.try(func(tx store.Tx) error {
			return ledger.Settle(tx, row.Id, row.PayloadSha256, row.ResponseSha256, *charge)
		})
	}
	if err := settle(reported(4000)); err != nil {
		t.Fatal(err)
	}
	wantReason(t, settle(reported(4001)), writv1.Reason_REASON_CONFLICT)
	w.wantRow(op, 1, stSettled)
}

func TestAChargeIsKnownOnlyFromWhatTheRouteProves(t *testing.T) {
	reports := policies.Route{ReportsCharge: true, Price: policies.Price{PerCall: 1}}
	cases := []struct {
		name    string
		route   policies.Route
		literal string
		want    int64
		proven  bool
	}{
		{"reported", reports, "0.0040001", 4001, true},
		{"missing", reports, "", 0, false},
		{"null", reports, "null", 0, false},
		{"negative", reports, "-1", 0, false},
		{"not a number", reports, "NaN", 0, false},
		{"overflow", reports, "99999999999999999999", 0, false},
		{"zero from a priced route", reports, "0", 0, false},
		{"text", reports, "0.1 USD", 0, false},
		{"free local model", policies.Route{Local: true}, "", 0, true},
		{"fixed price per call", policies.Route{Local: true, Price: policies.Price{PerCall: 7}}, "", 7, true},
		{"priced by use, no usage", policies.Route{Local: true, Price: policies.Price{PerMillionInputBytes: 7}}, "", 0, false},
		{"remote without a report", policies.Route{}, "", 0, false},
	}
	for _, c := range cases {
		charge, proven := ledger.Assess(c.route, c.literal)
		if charge.Actual != c.want || proven != c.proven {
			t.Errorf("%s: %+v proven=%v", c.name, charge, proven)
		}
	}
}

func TestCancelReleasesOnlyWhatWasNeverContacted(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 2)
	c := w.mustClaim(1, research.PhaseSynthesize)
	if denied := w.contact(c, paid); denied != nil {
		t.Fatal(denied)
	}
	w.do(func(tx store.Tx) error { return w.jobs.Cancel(tx, op) })
	w.wantJob(op, 1, operation.Cancelling, writv1.Reason_REASON_CANCELLED)
	w.wantJob(op, 2, operation.Cancelled, writv1.Reason_REASON_CANCELLED)
	if got := w.state(op); got != writv1.OperationState_OPERATION_STATE_CANCELLING {
		t.Fatalf("cancelled is shown before quiescence: %s", got)
	}
	w.wantRow(op, 1, stContacted)
	w.wantRow(op, 2, stReleased)
	wantReason(t, w.try(func(tx store.Tx) error { return w.jobs.Heartbeat(tx, c.Tenure) }), writv1.Reason_REASON_CANCELLED)
	w.do(func(tx store.Tx) error { return w.jobs.Quiesce(tx, c.Tenure) })
	w.wantRow(op, 1, stUnknown)
	w.wantJob(op, 1, operation.Unknown, writv1.Reason_REASON_COST_UNKNOWN)
	if got := w.state(op); got != writv1.OperationState_OPERATION_STATE_CANCELLED {
		t.Fatalf("state %s", got)
	}
	// A late answer is kept and settles, and resurrects nothing.
	w.respond(c, reported(4000))
	w.wantRow(op, 1, stSettled)
	if w.claim() != nil {
		t.Fatal("a late answer made work")
	}
}

func TestACancelledJobWhoseHolderIsLostBecomesQuiescentBySweep(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	c := w.mustClaim(1, research.PhaseSynthesize)
	w.do(func(tx store.Tx) error { return w.jobs.Cancel(tx, op) })
	w.sweep()
	w.wantJob(op, 1, operation.Cancelling, writv1.Reason_REASON_CANCELLED)
	w.clock.Advance(operation.LeaseTTL + second)
	w.sweep()
	w.wantJob(op, 1, operation.Cancelled, writv1.Reason_REASON_CANCELLED)
	w.wantRow(op, 1, stReleased)
	wantReason(t, w.try(func(tx store.Tx) error {
		_, err := w.research.Contact(tx, c.Tenure, canon.Digest(prompt(1)), w.governing(paid))
		return err
	}), writv1.Reason_REASON_STALE_FENCE)
}

func TestCancelReleasesADeniedHold(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 2)
	w.synthesize(1, paid, reported(paidB+1))
	c := w.mustClaim(2, research.PhaseSynthesize)
	if w.contact(c, paid) == nil {
		t.Fatal("not denied")
	}
	w.do(func(tx store.Tx) error { return w.jobs.Cancel(tx, op) })
	w.wantRow(op, 2, stReleased)
	w.wantRow(op, 1, stSettled) // and forgives no other row
}

func TestCancelDecidesEveryPhaseAndIsIdempotent(t *testing.T) {
	steps := []func(w *world, op string){
		func(*world, string) {},
		func(w *world, op string) { w.create(op) },
		func(w *world, op string) { w.create(op); w.prepare(1) },
		func(w *world, op string) { w.create(op); w.prepare(1); w.prepare(2) },
		func(w *world, op string) { w.create(op); w.prepare(1); w.prepare(2); w.fund(paid) },
		func(w *world, op string) {
			w.create(op)
			w.prepare(1)
			w.prepare(2)
			w.fund(paid)
			w.synthesize(1, paid, reported(1))
		},
	}
	for i, step := range steps {
		w := newWorld(t)
		op := w.mustAdmit(w.input(paid, 2))
		step(w, op)
		for range 2 {
			w.do(func(tx store.Tx) error { return w.jobs.Cancel(tx, op) })
		}
		if got := w.state(op); got != writv1.OperationState_OPERATION_STATE_CANCELLED {
			t.Errorf("after step %d: %s", i, got)
		}
		if c := w.claim(); c != nil {
			t.Errorf("after step %d: job %s is claimable", i, c.Job.Id)
		}
		for _, row := range w.reservations(op) {
			if row.State == stReserved || row.State == stContacted {
				t.Errorf("after step %d: row %s is %s", i, row.Id, row.State)
			}
		}
	}
}

func TestADeadlineReleasesFreezesAndLeavesTimeToAssemble(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	child := w.job(op, 1)
	parent := w.job(op, 0)
	if reserve := parent.DeadlineUs - child.DeadlineUs; reserve < 20_000_000 {
		t.Fatalf("%d µs are left for assembly", reserve)
	}
	w.clock.Advance(121 * second)
	w.sweep()
	w.wantJob(op, 1, operation.Blocked, writv1.Reason_REASON_DEADLINE_EXCEEDED)
	w.wantRow(op, 1, stReleased)
	w.adopt(op)
	if got := w.state(op); got != writv1.OperationState_OPERATION_STATE_INCOMPLETE {
		t.Fatalf("state %s", got)
	}
}

func TestAnOperationPastItsDeadlineHasFailedAndHoldsNothing(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 2)
	w.clock.Advance(301 * second)
	for range 2 {
		w.sweep()
	}
	if got := w.state(op); got != writv1.OperationState_OPERATION_STATE_FAILED {
		t.Fatalf("state %s", got)
	}
	w.wantRow(op, 1, stReleased)
	w.wantRow(op, 2, stReleased)
}

func TestNoRestartRenewsADeadline(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	before := w.job(op, 1).DeadlineUs
	w.clock.Advance(60 * second)
	w.reboot()
	w.do(func(tx store.Tx) error { return w.jobs.Resume(tx, op) })
	w.mustClaim(1, research.PhaseSynthesize)
	if after := w.job(op, 1).DeadlineUs; after != before {
		t.Fatalf("deadline moved from %d to %d", before, after)
	}
}

func TestAnAdoptionNeedsTheRowsThatItWasAssembledFrom(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	w.synthesize(1, paid, nil)
	c := w.mustClaim(0, research.PhaseAssemble)
	result := w.assembled(op, c)
	row := w.reservation(op, 1)
	w.do(func(tx store.Tx) error {
		return ledger.Settle(tx, row.Id, row.PayloadSha256, row.ResponseSha256, *reported(1))
	})
	wantReason(t, w.try(func(tx store.Tx) error { return w.research.Adopt(tx, c.Tenure, result) }), writv1.Reason_REASON_ARTIFACT_MISMATCH)
	again := w.assembled(op, c)
	w.do(func(tx store.Tx) error { return w.research.Adopt(tx, c.Tenure, again) })
}
