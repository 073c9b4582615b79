package operation

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// CheckpointBytes bounds one checkpoint's payload.
const CheckpointBytes = 64 << 10

// Checkpoint appends a typed step to a job that the caller has already been passed for. Steps are
// never rewritten.
func Checkpoint(tx store.Tx, job *storev1.Job, kind string, payload any) error {
	raw, err := canon.Marshal(payload)
	if err != nil {
		return err
	}
	if len(raw) > CheckpointBytes {
		return reason.New(writv1.Reason_REASON_TOO_LARGE, "checkpoint %s: %d bytes of %d", kind, len(raw), CheckpointBytes)
	}
	if err := apply(tx, job, func() { job.Checkpoints++ }); err != nil {
		return err
	}
	return record.Put(tx, record.CheckpointKey(job.Id, job.Checkpoints), &storev1.Checkpoint{
		JobId: job.Id, Seq: job.Checkpoints, Fence: job.Fence, Type: kind, Payload: raw, Sha256: canon.Digest(raw), AtUs: tx.Now(),
	})
}

// Latest decodes a job's latest checkpoint of one type into payload and reports whether there is one.
// A payload that does not match its digest is refused.
func Latest(r store.Reader, job, kind string, payload any) (bool, error) {
	var found *storev1.Checkpoint
	err := record.Each(r, record.CheckpointPrefix(job), func(c *storev1.Checkpoint) error {
		if c.Type == kind {
			found = c
		}
		return nil
	})
	if err != nil || found == nil {
		return false, err
	}
	if canon.Digest(found.Payload) != found.Sha256 {
		return false, reason.New(writv1.Reason_REASON_CHECKPOINT_MISMATCH, "checkpoint %d of %s does not match its digest", found.Seq, job)
	}
	return true, canon.Unmarshal(found.Payload, payload)
}
