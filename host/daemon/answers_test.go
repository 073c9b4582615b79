package daemon

import (
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/provider/providertest"
	"github.com/writ-kernel/writ/kernel/record"
)

// answered runs a two-slot operation against a far end that follows the script.
func answered(t *testing.T, script func(providertest.Call) providertest.Answer) (*machine, *providertest.Server, *writv1.Operation) {
	t.Helper()
	farEnd := providertest.NewServer(t, script)
	m := newMachines(t, counting(farEnd), countingAdapter)(t)
	e := newEffects(0)
	p := m.boot(e)
	id := p.submit(t, "counting", 10_000)
	op, _ := p.wait(t, e, id)
	settledSums(t, p, id)
	p.kill(t)
	return m, farEnd, op
}

func TestAQuoteThatIsNotThereIsShownUnverifiedAndNeverAdopted(t *testing.T) {
	for name, script := range map[string]func(providertest.Call) providertest.Answer{
		"fabricated": providertest.FabricatedQuote, "shifted": providertest.ShiftedQuote, "of another passage": providertest.UnknownPassage,
	} {
		t.Run(name, func(t *testing.T) {
			_, _, op := answered(t, script)
			if op.State != writv1.OperationState_OPERATION_STATE_COMPLETE || len(op.Research.Claims) == 0 {
				t.Fatalf("%s %s %s", op.State, op.Reason, op.Detail)
			}
			for _, claim := range op.Research.Claims {
				if claim.Adopted || claim.Citations[0].Status == "verified" {
					t.Errorf("claim %v", claim)
				}
			}
		})
	}
}

func TestAnAnswerOfABadShapeBlocksItsSlotAndKeepsItsCharge(t *testing.T) {
	cases := map[string]struct {
		script func(providertest.Call) providertest.Answer
		want   writv1.Reason
		settle int64
		hold   int64
	}{
		"garbage":   {providertest.Garbage, writv1.Reason_REASON_OUTPUT_INVALID, 2000, 0},
		"oversized": {providertest.Oversized, writv1.Reason_REASON_OUTPUT_TOO_LARGE, 2000, 0},
		"cut":       {providertest.Cut, writv1.Reason_REASON_PLUGIN_FAILED, 0, 10_000},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, farEnd, op := answered(t, c.script)
			if op.State != writv1.OperationState_OPERATION_STATE_INCOMPLETE || op.Reason != c.want {
				t.Fatalf("%s %s %s", op.State, reason.Name(op.Reason), op.Detail)
			}
			if op.Money.Settled != c.settle || op.Money.Unknown != c.hold {
				t.Errorf("money %v", op.Money)
			}
			for call, n := range farEnd.ByCall() {
				if n != 1 {
					t.Errorf("call %s was made %d times", call, n)
				}
			}
		})
	}
}

func TestAMissingOrImpossibleChargeIsUnknownAndKeepsTheAnswer(t *testing.T) {
	for _, charge := range []string{"", "null", "-1", "0", "NaN", "1e99"} {
		t.Run(charge, func(t *testing.T) {
			_, _, op := answered(t, providertest.WithCharge(charge))
			if op.State != writv1.OperationState_OPERATION_STATE_COMPLETE || op.Money.Unknown != 10_000 || op.Money.Settled != 0 {
				t.Fatalf("%s, money %v", op.State, op.Money)
			}
			if !op.Research.Claims[0].Adopted {
				t.Error("the claim was dropped with its price")
			}
		})
	}
}

func TestAnOverrunDeniesTheFundedSiblingThroughTheRealCallPath(t *testing.T) {
	m, farEnd, op := answered(t, providertest.WithCharge("0.006")) // 6,000 micro-USD above a bound of 5,000
	check := func(op *writv1.Operation) {
		t.Helper()
		if op.State != writv1.OperationState_OPERATION_STATE_INCOMPLETE || op.Reason != writv1.Reason_REASON_OVERRUN_UNREVIEWED {
			t.Fatalf("%s %s %s", op.State, reason.Name(op.Reason), op.Detail)
		}
		first, second := op.Receipts[0], op.Receipts[1]
		if first.State != "settled" || first.Actual != 6000 {
			t.Errorf("first receipt %v", first)
		}
		if second.State != "reserved" || second.ContactedAt != nil || len(second.Denials) != 1 || second.Denials[0].Reason != writv1.Reason_REASON_OVERRUN_UNREVIEWED {
			t.Errorf("second receipt %v", second)
		}
		if op.Jobs[2].State != writv1.JobState_JOB_STATE_BLOCKED {
			t.Errorf("slot 2 is %s", op.Jobs[2].State)
		}
	}
	check(op)
	if n := farEnd.ByCall()[record.ReservationID(op.OperationId, 2)]; n != 0 {
		t.Fatalf("the denied slot reached the far end %d times", n)
	}
	p := m.boot(newEffects(0))
	defer p.kill(t)
	again, err := p.client.GetOperation(t.Context(), &writv1.GetOperationRequest{OperationId: op.OperationId})
	if err != nil {
		t.Fatal(err)
	}
	check(again.Operation)
}

func TestCancellingACallUnderWayKeepsItsBoundAndSaysSo(t *testing.T) {
	farEnd := providertest.NewServer(t, providertest.Held)
	m := newMachines(t, counting(farEnd), countingAdapter)(t)
	e := newEffects(0)
	p := m.boot(e)
	defer p.kill(t)
	id := p.submit(t, "counting", 10_000)
	if !farEnd.Wait(1, testPatience) {
		t.Fatal("the call never arrived")
	}
	if _, err := p.client.CancelOperation(t.Context(), &writv1.CancelOperationRequest{OperationId: id}); err != nil {
		t.Fatal(err)
	}
	op, _ := p.wait(t, e, id)
	if op.State != writv1.OperationState_OPERATION_STATE_CANCELLED || op.Money.Unknown != 5000 || op.Money.Reserved != 0 {
		t.Fatalf("%s, money %v", op.State, op.Money)
	}
	if op.Receipts[0].State != "unknown" || op.Receipts[1].State != "released" || op.Jobs[1].State != writv1.JobState_JOB_STATE_UNKNOWN {
		t.Fatalf("receipts %v, jobs %v", op.Receipts, op.Jobs)
	}
	if len(farEnd.Calls()) != 1 {
		t.Fatalf("%d calls", len(farEnd.Calls()))
	}
}

func TestAWithheldPermissionBlocksItsSlotBeforeAnythingIsFunded(t *testing.T) {
	farEnd := providertest.NewServer(t, nil)
	m := newMachines(t, counting(farEnd), countingAdapter)(t)
	e := newEffects(0)
	p := m.boot(e)
	defer p.kill(t)
	for name, withhold := range map[string]func(*writv1.SourceUse){
		"egress_not_granted": func(u *writv1.SourceUse) { u.EgressRevision = 0 },
		"read_not_granted":   func(u *writv1.SourceUse) { u.ReadRevision = 0 },
	} {
		in := p.input(t, "counting", 10_000)
		withhold(in.Slots[1].Sources[0])
		op, _ := p.wait(t, e, p.admit(t, name, in))
		if op.State != writv1.OperationState_OPERATION_STATE_INCOMPLETE || reason.Name(op.Reason) != name || len(op.Receipts) != 0 {
			t.Errorf("%s: %s %s, %d receipts", name, op.State, reason.Name(op.Reason), len(op.Receipts))
		}
	}
	if n := len(farEnd.Calls()); n != 0 {
		t.Errorf("%d calls", n)
	}
}
