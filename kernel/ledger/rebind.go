package ledger

import (
	"bytes"

	"google.golang.org/protobuf/proto"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// immutable is the canonical form of the fields that never change after reservation.
func immutable(row *storev1.Reservation) []byte {
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(&storev1.Reservation{
		Id: row.Id, OperationId: row.OperationId, JobId: row.JobId, Slot: row.Slot, Owner: row.Owner,
		GoalId: row.GoalId, Deployment: row.Deployment, Route: row.Route, Bound: row.Bound,
		PayloadSha256: row.PayloadSha256, PolicyRevision: row.PolicyRevision, ProviderSha256: row.ProviderSha256,
		Lineage: row.Lineage, DeadlineUs: row.DeadlineUs, Rerunnable: row.Rerunnable,
	})
	if err != nil {
		// Marshalling a message of plain strings and numbers fails on invalid UTF-8 alone, which no
		// stored row holds; an empty form matches nothing.
		return nil
	}
	return append(raw, 0)
}

// Rebind moves a never-contacted row to its child's live fence, at the moment the child is claimed.
// Every immutable field must be what it was. A row that was contacted is left alone: what it means
// is decided from its marker, not from the new claim.
func Rebind(tx store.Tx, job *storev1.Job, id, payloadSHA256 string) error {
	if err := Whole(tx, job.OperationId); err != nil {
		return err
	}
	row, err := Get(tx, id)
	if err != nil {
		return err
	}
	if row.JobId != job.Id || row.PayloadSha256 != payloadSHA256 || row.DeadlineUs != job.DeadlineUs ||
		!proto.Equal(row.Lineage, job.Lineage) {
		return reason.New(writv1.Reason_REASON_RESERVATION_MISMATCH, "reservation %s was made for another call", id)
	}
	if row.State != reserved || row.ContactedUs != 0 {
		return nil
	}
	before := immutable(row)
	return change(tx, row, "rebound", func() {
		row.BoundFence = job.Fence
		if !bytes.Equal(before, immutable(row)) {
			panic("ledger: rebind changed an immutable field")
		}
	})
}
