package operation

import (
	"slices"
	"strings"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// The moves written out again, so that a changed or added row is seen here.
var moves = map[State]string{
	Queued:     "claim>running block>blocked fail>failed cancel>cancelling",
	Running:    "claim>running pause>paused block>blocked succeed>succeeded fail>failed unknown>unknown cancel>cancelling",
	Paused:     "claim>running block>blocked fail>failed cancel>cancelling",
	Blocked:    "cancel>cancelling retry>queued",
	Cancelling: "quiesce>cancelled unknown>unknown",
	Succeeded:  "", Failed: "", Cancelled: "", Unknown: "",
}

func TestTheStateTableIsWalkedWhole(t *testing.T) {
	events := []event{evClaim, evPause, evBlock, evSucceed, evFail, evUnknown, evCancel, evQuiesce, evRetry}
	if len(table) != len(writv1.JobState_name)-1 {
		t.Fatalf("%d states in the table, %d exist", len(table), len(writv1.JobState_name)-1)
	}
	for state, want := range moves {
		if len(table[state]) != len(strings.Fields(want)) {
			t.Errorf("%s has %d moves", state, len(table[state]))
		}
		for _, e := range events {
			to, err := next(state, e)
			legal := err == nil && slices.Contains(strings.Fields(want), string(e)+">"+stateName(to))
			if !legal && !reason.Is(err, writv1.Reason_REASON_ILLEGAL_TRANSITION) {
				t.Errorf("%s on %s gives %s, %v", e, state, to, err)
			}
			if legal && Ended(state) && state != Blocked {
				t.Errorf("%s moves on after its end", state)
			}
		}
	}
}

func stateName(s State) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "JOB_STATE_"))
}
