package research_test

import (
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/board"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
)

func TestAnOperationGoesThroughEveryPhaseToACompleteDossier(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded("extractive", 2)
	w.wantJob(op, 0, operation.Paused, writv1.Reason_REASON_RESEARCH_WAIT_CHILDREN)
	w.synthesize(1, "extractive", &ledger.Charge{Evidence: ledger.EvidenceLocal})
	w.synthesize(2, "extractive", &ledger.Charge{Evidence: ledger.EvidenceLocal})
	w.adopt(op)
	if got := w.state(op); got != writv1.OperationState_OPERATION_STATE_COMPLETE {
		t.Fatalf("state %s", got)
	}
	if w.claim() != nil {
		t.Fatal("a finished operation offers work")
	}
	w.sumsAgree(op)
}

func (w *world) state(op string) writv1.OperationState {
	row := read(w, func(r store.Reader) (*storev1.Operation, error) { return operation.Get(r, owner, op) })
	return board.State(row, w.job(op, 0))
}

func TestTheSameKeyAndInputReturnTheSameOperationAndOtherInputConflicts(t *testing.T) {
	w := newWorld(t)
	first, duplicate, err := w.admit("k", w.input("extractive", 1))
	if err != nil || duplicate {
		t.Fatal(duplicate, err)
	}
	again, duplicate, err := w.admit("k", w.input("extractive", 1))
	if err != nil || !duplicate || again.Id != first.Id || again.DeadlineUs != first.DeadlineUs {
		t.Fatalf("got %v duplicate=%v err=%v", again, duplicate, err)
	}
	other := w.input("extractive", 1)
	other.Question += "?"
	_, _, err = w.admit("k", other)
	wantReason(t, err, writv1.Reason_REASON_CONFLICT)
}

func TestTheParentHoldsNoLeaseAndKeepsItsAttemptWhileItWaits(t *testing.T) {
	w := newWorld(t)
	op := w.mustAdmit(w.input("extractive", 1))
	w.create(op)
	waiting := w.job(op, 0)
	if waiting.Lease != nil || waiting.AttemptId == "" {
		t.Fatalf("waiting parent: lease %v attempt %q", waiting.Lease, waiting.AttemptId)
	}
	w.prepare(1)
	c := w.mustClaim(0, research.PhaseFund)
	if c.Job.AttemptId != waiting.AttemptId || c.Job.Fence <= waiting.Fence {
		t.Fatalf("reclaimed attempt %s fence %d, was %s fence %d", c.Job.AttemptId, c.Job.Fence, waiting.AttemptId, waiting.Fence)
	}
	if c.Job.Lineage.Fence != waiting.Lineage.Fence {
		t.Fatal("creation lineage was rewritten")
	}
}

func TestNothingIsReservedOrContactedBeforeEverySlotIsPromptReady(t *testing.T) {
	w := newWorld(t)
	op := w.mustAdmit(w.input(paid, 2))
	w.create(op)
	w.prepare(1)
	if rows := w.reservations(op); len(rows) != 0 {
		t.Fatalf("%d rows before funding", len(rows))
	}
	w.prepare(2)
	w.mustClaim(0, research.PhaseFund)
}

func TestAnUnpreparedSlotMeansNothingIsFundedAndTheDossierIsIncomplete(t *testing.T) {
	w := newWorld(t)
	in := w.input(paid, 2)
	in.Slots[1].Sources[0].EgressRevision = 0 // withheld
	op := w.mustAdmit(in)
	w.create(op)
	w.prepare(1)
	c := w.mustClaim(2, research.PhasePrepare)
	err := w.try(func(tx store.Tx) error { _, err := w.research.Permit(tx, c.Tenure); return err })
	wantReason(t, err, writv1.Reason_REASON_EGRESS_NOT_GRANTED)
	why, _ := reason.As(err)
	w.do(func(tx store.Tx) error { return w.jobs.BlockHeld(tx, c.Tenure, why) })
	w.wantJob(op, 1, operation.Blocked, writv1.Reason_REASON_CHILD_UNPREPARED)
	w.wantJob(op, 2, operation.Blocked, writv1.Reason_REASON_EGRESS_NOT_GRANTED)
	w.adopt(op)
	if got := w.state(op); got != writv1.OperationState_OPERATION_STATE_INCOMPLETE {
		t.Fatalf("state %s", got)
	}
	w.wantJob(op, 0, operation.Succeeded, writv1.Reason_REASON_EGRESS_NOT_GRANTED)
	if rows := w.reservations(op); len(rows) != 0 {
		t.Fatalf("%d rows of an operation that was never funded", len(rows))
	}
}

func TestASecondSlotContactsOnlyAfterTheFirstHasEnded(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 2)
	c := w.mustClaim(1, research.PhaseSynthesize)
	if denied := w.contact(c, paid); denied != nil {
		t.Fatal(denied)
	}
	if second := w.claim(); second != nil {
		t.Fatalf("job %s was claimable while slot 1 is in contact", second.Job.Id)
	}
	w.respond(c, reported(4000))
	w.finish(c)
	w.mustClaim(2, research.PhaseSynthesize)
	w.wantRow(op, 1, stSettled)
}

func TestAStaleFenceIsRefusedAtEveryAuthorityWrite(t *testing.T) {
	w := newWorld(t)
	op := w.toFunded(paid, 1)
	c := w.mustClaim(1, research.PhaseSynthesize)
	writes := map[string]func(store.Tx) error{
		"heartbeat": func(tx store.Tx) error { return w.jobs.Heartbeat(tx, stale(c)) },
		"permit":    func(tx store.Tx) error { _, err := w.research.Permit(tx, stale(c)); return err },
		"ready":     func(tx store.Tx) error { return w.research.Ready(tx, stale(c), ready(1)) },
		"contact": func(tx store.Tx) error {
			_, err := w.research.Contact(tx, stale(c), canon.Digest(prompt(1)), w.governing(paid))
			return err
		},
		"finish": func(tx store.Tx) error { return w.research.Finish(tx, stale(c), research.Output{}) },
		"block": func(tx store.Tx) error {
			return w.jobs.BlockHeld(tx, stale(c), reason.New(writv1.Reason_REASON_INTERNAL, "x"))
		},
		"lost": func(tx store.Tx) error {
			return w.research.Lost(tx, stale(c), reason.New(writv1.Reason_REASON_INTERNAL, "x"))
		},
		"quiesce": func(tx store.Tx) error { return w.jobs.Quiesce(tx, stale(c)) },
	}
	for name, write := range writes {
		wantReason(t, w.try(write), writv1.Reason_REASON_STALE_FENCE)
		if row := w.wantRow(op, 1, stReserved); len(row.Denials) != 0 {
			t.Fatalf("%s under a stale fence left a denial", name)
		}
	}
}

func TestAnExpiredLeaseIsRefusedAndTheJobIsClaimableWithAHigherFence(t *testing.T) {
	w := newWorld(t)
	op := w.mustAdmit(w.input("extractive", 1))
	w.create(op)
	c := w.mustClaim(1, research.PhasePrepare)
	w.clock.Advance(operation.LeaseTTL + second)
	wantReason(t, w.try(func(tx store.Tx) error { return w.jobs.Heartbeat(tx, c.Tenure) }), writv1.Reason_REASON_LEASE_EXPIRED)
	next := w.mustClaim(1, research.PhasePrepare)
	if next.Tenure.Fence != c.Tenure.Fence+1 || next.Job.AttemptId == c.Job.AttemptId {
		t.Fatalf("fence %d attempt %s after %d %s", next.Tenure.Fence, next.Job.AttemptId, c.Tenure.Fence, c.Job.AttemptId)
	}
	wantReason(t, w.try(func(tx store.Tx) error { return w.jobs.Heartbeat(tx, c.Tenure) }), writv1.Reason_REASON_STALE_FENCE)
}

func TestARebootMakesEarlierLeasesClaimableAtOnce(t *testing.T) {
	w := newWorld(t)
	op := w.mustAdmit(w.input("extractive", 1))
	w.create(op)
	c := w.mustClaim(1, research.PhasePrepare)
	w.reboot()
	wantReason(t, w.try(func(tx store.Tx) error { return w.jobs.Heartbeat(tx, c.Tenure) }), writv1.Reason_REASON_LEASE_EXPIRED)
	w.mustClaim(1, research.PhasePrepare)
}

func TestTheParentTableIsExactlyTheTwoWaitingStates(t *testing.T) {
	states := []operation.State{
		operation.Queued, operation.Running, operation.Paused, operation.Blocked, operation.Succeeded,
		operation.Failed, operation.Cancelling, operation.Cancelled, operation.Unknown,
	}
	// Boundary by phase, written out again so that a changed row is seen.
	prepare := map[guard.Boundary]bool{
		guard.Claim: true, guard.Heartbeat: true, guard.Checkpoint: true, guard.ArtifactWrite: true, guard.Readback: true, guard.Terminal: true,
	}
	synthesize := map[guard.Boundary]bool{
		guard.Claim: true, guard.Heartbeat: true, guard.Checkpoint: true, guard.ArtifactWrite: true, guard.Readback: true, guard.Terminal: true,
		guard.CostBind: true, guard.Contact: true, guard.Effect: true,
	}
	for _, b := range guard.Boundaries {
		for _, state := range states {
			for value := range writv1.Reason_name {
				why := writv1.Reason(value)
				waiting := state == operation.Paused
				want := map[string]bool{
					research.PhasePrepare:    waiting && why == writv1.Reason_REASON_RESEARCH_WAIT_SOURCES && prepare[b],
					research.PhaseSynthesize: waiting && why == writv1.Reason_REASON_RESEARCH_WAIT_CHILDREN && synthesize[b],
					research.PhaseAssemble:   false, research.PhaseFund: false, research.PhaseCreate: false, "": false,
				}
				for phase, allowed := range want {
					if got := research.ParentTable.Allows(phase, b, state, why); got != allowed {
						t.Errorf("phase %q, %s, parent %s %s: allowed %v", phase, b, state, reason.Name(why), got)
					}
				}
			}
		}
	}
}

// setParent puts the parent into a form that no transition gives it, to see that the rule holds there.
func (w *world) setParent(op string, edit func(*storev1.Job)) {
	w.do(func(tx store.Tx) error {
		job, err := operation.Job(tx, record.JobID(op, 0))
		if err != nil {
			return err
		}
		edit(job)
		return record.Put(tx, record.JobKey(job.Id), job)
	})
}

func TestAChildActsUnderNoOtherPausedParent(t *testing.T) {
	cases := map[string]struct {
		edit func(*storev1.Job)
		want writv1.Reason
	}{
		"paused for another reason": {func(j *storev1.Job) { j.Reason = writv1.Reason_REASON_LANE_BUSY }, writv1.Reason_REASON_PARENT_RULE},
		"paused without a reason":   {func(j *storev1.Job) { j.Reason = 0 }, writv1.Reason_REASON_PARENT_RULE},
		"the other waiting state":   {func(j *storev1.Job) { j.Reason = writv1.Reason_REASON_RESEARCH_WAIT_CHILDREN }, writv1.Reason_REASON_PARENT_RULE},
		"running":                   {func(j *storev1.Job) { j.State = operation.Running }, writv1.Reason_REASON_PARENT_RULE},
		"another creation fence":    {func(j *storev1.Job) { j.Lineage.Fence++ }, writv1.Reason_REASON_LINEAGE_MISMATCH},
		"another creation attempt":  {func(j *storev1.Job) { j.Lineage.AttemptId += "x" }, writv1.Reason_REASON_LINEAGE_MISMATCH},
		"cancelled":                 {func(j *storev1.Job) { j.CancelRequested = true }, writv1.Reason_REASON_CANCELLED},
		"past its deadline":         {func(j *storev1.Job) { j.DeadlineUs = 1 }, writv1.Reason_REASON_DEADLINE_EXCEEDED},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			op := w.mustAdmit(w.input("extractive", 1))
			w.create(op)
			child := w.mustClaim(1, research.PhasePrepare)
			w.setParent(op, c.edit)
			wantReason(t, w.try(func(tx store.Tx) error { return w.jobs.Heartbeat(tx, child.Tenure) }), c.want)
			wantReason(t, w.try(func(tx store.Tx) error { _, err := w.research.Permit(tx, child.Tenure); return err }), c.want)
			wantReason(t, w.try(func(tx store.Tx) error { return w.research.Ready(tx, child.Tenure, ready(1)) }), c.want)
		})
	}
}

func TestARevisionThatMovesStopsWorkAtItsNextBoundary(t *testing.T) {
	edits := map[string]struct {
		edit func(w *world, tx store.Tx) error
		want writv1.Reason
	}{
		"source read": {func(w *world, tx store.Tx) error {
			s, err := grantOf(tx, w.sources[0].Id)
			s.Read = &storev1.Grant{Revision: s.Read.Revision + 1}
			return putSource(tx, s, err)
		}, writv1.Reason_REASON_READ_NOT_GRANTED},
		"source egress regranted": {func(w *world, tx store.Tx) error {
			s, err := grantOf(tx, w.sources[0].Id)
			s.Egress = &storev1.Grant{Granted: true, Revision: s.Egress.Revision + 2}
			return putSource(tx, s, err)
		}, writv1.Reason_REASON_EGRESS_NOT_GRANTED},
		"goal": {func(w *world, tx store.Tx) error {
			goal := new(storev1.Goal)
			id := record.GoalID([]byte("store"), owner)
			if _, err := record.Get(tx, record.GoalKey(owner, id), goal); err != nil {
				return err
			}
			goal.Revision++
			return record.Put(tx, record.GoalKey(owner, id), goal)
		}, writv1.Reason_REASON_GOAL_CHANGED},
		"root": {func(w *world, tx store.Tx) error {
			root := new(storev1.Root)
			if _, err := record.Get(tx, record.RootKey(owner), root); err != nil {
				return err
			}
			root.RevokedUs = tx.Now()
			return record.Put(tx, record.RootKey(owner), root)
		}, writv1.Reason_REASON_ROOT_REVOKED},
	}
	for name, c := range edits {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			op := w.toFunded(paid, 1)
			child := w.mustClaim(1, research.PhaseSynthesize)
			w.do(func(tx store.Tx) error { return c.edit(w, tx) })
			wantReason(t, w.try(func(tx store.Tx) error { return w.jobs.Heartbeat(tx, child.Tenure) }), c.want)
			if denied := w.contact(child, paid); denied == nil || denied.Code != c.want {
				t.Fatalf("contact: %v", denied)
			}
			row := w.wantRow(op, 1, stReserved)
			if row.ContactedUs != 0 || len(row.Denials) != 1 || row.Denials[0].Reason != c.want {
				t.Fatalf("row %v", row)
			}
			w.wantJob(op, 1, operation.Blocked, c.want)
		})
	}
}

func grantOf(tx store.Tx, id string) (*storev1.Source, error) {
	s := new(storev1.Source)
	_, err := record.Get(tx, record.SourceKey(owner, id), s)
	return s, err
}

func putSource(tx store.Tx, s *storev1.Source, err error) error {
	if err != nil {
		return err
	}
	return record.Put(tx, record.SourceKey(owner, s.Id), s)
}
