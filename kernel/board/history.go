package board

import (
	"fmt"

	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// Append adds one event about a job to its operation's history. The sequence grows by one, so that a
// watcher that resumes can prove that it missed nothing.
func Append(tx store.Tx, job *storev1.Job, kind, detail string) error {
	var op storev1.Operation
	if ok, err := record.Get(tx, record.OperationKey(job.OperationId), &op); err != nil || !ok {
		return fmt.Errorf("history of %s: present=%v: %w", job.OperationId, ok, err)
	}
	parent := job
	if job.Slot != 0 {
		parent = new(storev1.Job)
		if _, err := record.Get(tx, record.JobKey(op.ParentJob), parent); err != nil {
			return err
		}
	}
	op.EventSeq++
	event := &storev1.Event{
		OperationId: op.Id, Seq: op.EventSeq, AtUs: tx.Now(), JobId: job.Id, Slot: job.Slot, Kind: kind,
		State: job.State, Reason: job.Reason, Detail: detail, Fence: job.Fence, OperationState: State(&op, parent),
	}
	if err := record.Put(tx, record.EventKey(op.Id, op.EventSeq), event); err != nil {
		return err
	}
	return record.Put(tx, record.OperationKey(op.Id), &op)
}

// Events calls fn for every event after the sequence, in order.
func Events(r store.Reader, operation string, after uint64, fn func(*storev1.Event) error) error {
	from := record.EventKey(operation, after+1)
	return record.EachFrom(r, from, record.EventPrefix(operation), fn)
}
