package board

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
)

// State is the operator's word for where an operation stands, derived from its parent job.
func State(op *storev1.Operation, parent *storev1.Job) writv1.OperationState {
	switch parent.GetState() {
	case writv1.JobState_JOB_STATE_QUEUED:
		return writv1.OperationState_OPERATION_STATE_QUEUED
	case writv1.JobState_JOB_STATE_RUNNING:
		return writv1.OperationState_OPERATION_STATE_RUNNING
	case writv1.JobState_JOB_STATE_PAUSED:
		return writv1.OperationState_OPERATION_STATE_WAITING
	case writv1.JobState_JOB_STATE_SUCCEEDED:
		if op.Incomplete {
			return writv1.OperationState_OPERATION_STATE_INCOMPLETE
		}
		return writv1.OperationState_OPERATION_STATE_COMPLETE
	case writv1.JobState_JOB_STATE_BLOCKED:
		return writv1.OperationState_OPERATION_STATE_BLOCKED
	case writv1.JobState_JOB_STATE_FAILED:
		return writv1.OperationState_OPERATION_STATE_FAILED
	case writv1.JobState_JOB_STATE_CANCELLING:
		return writv1.OperationState_OPERATION_STATE_CANCELLING
	case writv1.JobState_JOB_STATE_CANCELLED:
		return writv1.OperationState_OPERATION_STATE_CANCELLED
	case writv1.JobState_JOB_STATE_UNKNOWN:
		return writv1.OperationState_OPERATION_STATE_UNKNOWN
	}
	return writv1.OperationState_OPERATION_STATE_UNSPECIFIED
}

// Ended reports whether nothing of the operation can move by itself any more.
func Ended(s writv1.OperationState) bool {
	switch s {
	case writv1.OperationState_OPERATION_STATE_COMPLETE, writv1.OperationState_OPERATION_STATE_INCOMPLETE,
		writv1.OperationState_OPERATION_STATE_BLOCKED, writv1.OperationState_OPERATION_STATE_FAILED,
		writv1.OperationState_OPERATION_STATE_CANCELLED, writv1.OperationState_OPERATION_STATE_UNKNOWN:
		return true
	}
	return false
}

// Waiting is the phrase shown for a job that waits without a lease; a waiting job is never shown as
// failed.
func Waiting(job *storev1.Job) string {
	if job.State != writv1.JobState_JOB_STATE_PAUSED {
		return ""
	}
	switch job.Reason {
	case writv1.Reason_REASON_RESEARCH_WAIT_SOURCES:
		return "Waiting for sources"
	case writv1.Reason_REASON_RESEARCH_PROMPT_READY:
		return "Prompt ready, waiting for funding"
	case writv1.Reason_REASON_RESEARCH_WAIT_CHILDREN:
		return "Waiting for synthesis"
	}
	return "Waiting"
}
