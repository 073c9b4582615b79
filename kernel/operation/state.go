package operation

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// State and its values, named as on the page.
type State = writv1.JobState

const (
	Queued     = writv1.JobState_JOB_STATE_QUEUED
	Running    = writv1.JobState_JOB_STATE_RUNNING
	Paused     = writv1.JobState_JOB_STATE_PAUSED
	Blocked    = writv1.JobState_JOB_STATE_BLOCKED
	Succeeded  = writv1.JobState_JOB_STATE_SUCCEEDED
	Failed     = writv1.JobState_JOB_STATE_FAILED
	Cancelling = writv1.JobState_JOB_STATE_CANCELLING
	Cancelled  = writv1.JobState_JOB_STATE_CANCELLED
	Unknown    = writv1.JobState_JOB_STATE_UNKNOWN
)

// event is what may happen to a job.
type event string

const (
	evClaim   event = "claim"   // a holder takes it
	evPause   event = "pause"   // the holder waits without a lease
	evBlock   event = "block"   // cannot go on and says why
	evSucceed event = "succeed" // the holder finished
	evFail    event = "fail"    // ended without a result
	evUnknown event = "unknown" // a contact has no proven outcome
	evCancel  event = "cancel"  // somebody asked for its end
	evQuiesce event = "quiesce" // nobody can act for it any more
	evRetry   event = "retry"   // an operator resumes a block whose cause lies outside
)

// table is every legal move. A move that is not listed is an error.
//
// A running job may be claimed again: that is how a lost lease passes to the next holder.
var table = map[State]map[event]State{
	Queued:     {evClaim: Running, evBlock: Blocked, evFail: Failed, evCancel: Cancelling},
	Running:    {evClaim: Running, evPause: Paused, evBlock: Blocked, evSucceed: Succeeded, evFail: Failed, evUnknown: Unknown, evCancel: Cancelling},
	Paused:     {evClaim: Running, evBlock: Blocked, evFail: Failed, evCancel: Cancelling},
	Blocked:    {evCancel: Cancelling, evRetry: Queued},
	Cancelling: {evQuiesce: Cancelled, evUnknown: Unknown},
	Succeeded:  {},
	Failed:     {},
	Cancelled:  {},
	Unknown:    {},
}

func next(from State, e event) (State, error) {
	to, ok := table[from][e]
	if !ok {
		return from, reason.New(writv1.Reason_REASON_ILLEGAL_TRANSITION, "a job does not %s while %s", e, from)
	}
	return to, nil
}

// Ended reports whether a job has ended: a blocked, failed or Unknown child counts as ended.
func Ended(s State) bool {
	switch s {
	case Blocked, Succeeded, Failed, Cancelled, Unknown:
		return true
	}
	return false
}
