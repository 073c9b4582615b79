package ledger

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
)

// Contact commits the marker that must precede the first byte, or commits a typed denial and leaves
// the row reserved. A caller that does not hold the job gets an error and changes nothing: a stale
// holder must not be able to deny somebody else's call. A row that was contacted before is refused,
// whoever asks.
func (l *Ledger) Contact(tx store.Tx, t guard.Tenure, id, payloadSHA256 string, governing policies.Governing) (*storev1.Reservation, *reason.Error, error) {
	if _, err := guard.Held(tx, t); err != nil {
		return nil, nil, err
	}
	row, err := Get(tx, id)
	if err != nil {
		return nil, nil, err
	}
	if row.JobId != t.Job {
		return nil, nil, reason.New(writv1.Reason_REASON_RESERVATION_MISMATCH, "reservation %s belongs to another job", id)
	}
	if row.State != reserved || row.ContactedUs != 0 {
		return nil, nil, reason.New(writv1.Reason_REASON_ALREADY_CONTACTED, "reservation %s is %s", id, name(row.State))
	}
	if denied := l.mayContact(tx, t, row, payloadSHA256, governing); denied != nil {
		typed, ok := reason.As(denied)
		if !ok {
			return nil, nil, denied
		}
		return row, typed, deny(tx, row, t, payloadSHA256, typed)
	}
	return row, nil, change(tx, row, "contacted", func() {
		row.State, row.ContactedUs = contacted, tx.Now()
	})
}

// mayContact re-reads everything that a contact rests on.
func (l *Ledger) mayContact(tx store.Tx, t guard.Tenure, row *storev1.Reservation, payloadSHA256 string, governing policies.Governing) error {
	scope, err := l.guard.Authority(tx, guard.Contact, t)
	if err != nil {
		return err
	}
	if row.PayloadSha256 != payloadSHA256 || row.BoundFence != t.Fence {
		return reason.New(writv1.Reason_REASON_RESERVATION_MISMATCH, "reservation %s binds payload %.12s at fence %d", row.Id, row.PayloadSha256, row.BoundFence)
	}
	if revision := governing.Revision(); revision != row.PolicyRevision || row.PolicyRevision != scope.Op.PolicyRevision {
		return policyChanged(scope.Op, revision)
	}
	if err := unreviewedOverrun(tx, row.Deployment); err != nil {
		return err
	}
	list, err := ceilings(tx, scope.Op, governing)
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := c.check(tx, 0); err != nil {
			return err
		}
	}
	return nil
}

// deny records the refusal on the row. The state, bound, deadline and contact time stay as they were.
func deny(tx store.Tx, row *storev1.Reservation, t guard.Tenure, payloadSHA256 string, why *reason.Error) error {
	return change(tx, row, "contact_denied", func() {
		row.Denials = append(row.Denials, &storev1.Denial{
			Reason: why.Code, Detail: why.Detail, Fence: t.Fence, PayloadSha256: payloadSHA256, AtUs: tx.Now(),
		})
	})
}

// unreviewedOverrun refuses while any charge above its bound waits for review in this deployment,
// whoever owns it.
func unreviewedOverrun(r store.Reader, deployment string) error {
	prefix := record.OverrunPrefix(deployment)
	var found string
	err := r.Scan(prefix, store.PrefixEnd(prefix), func(k, _ []byte) error {
		found = record.Last(k)
		return store.ErrStop
	})
	if err != nil || found == "" {
		return err
	}
	return reason.New(writv1.Reason_REASON_OVERRUN_UNREVIEWED, "a charge above its bound waits for review in deployment %s", deployment)
}
