package ledger

import (
	"math"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// Scopes are the sets of rows that a ceiling bounds. Free text is hashed into keys.

func operationScope(operation string) string { return "operation." + operation }
func goalScope(goal string) string           { return "goal." + goal }
func ownerScope(owner, period string) string { return "owner." + owner + "." + period }
func deploymentScope(deployment, period string) string {
	return "deployment." + canon.Digest([]byte(deployment))[:24] + "." + period
}

// scopes lists every sum that a reservation counts in. The period is that of the reservation, so
// that a late charge lands where it was held.
func scopes(row *storev1.Reservation) []string {
	return []string{
		operationScope(row.OperationId), goalScope(row.GoalId),
		ownerScope(row.Owner, row.Period), deploymentScope(row.Deployment, row.Period),
	}
}

// position is what one reservation adds to its scopes.
func position(row *storev1.Reservation) *storev1.Sum {
	switch row.State {
	case reserved:
		return &storev1.Sum{Reserved: row.Bound}
	case contacted:
		return &storev1.Sum{Contacted: row.Bound}
	case settled:
		return &storev1.Sum{Settled: row.Actual}
	case unknown:
		return &storev1.Sum{Unknown: row.Bound}
	}
	return &storev1.Sum{}
}

// Sum reads the position of one operation.
func Sum(r store.Reader, operation string) (*storev1.Sum, error) {
	return sum(r, operationScope(operation))
}

// GoalLeft is what a goal may still hold or spend; it is negative after an overrun.
func GoalLeft(r store.Reader, goal *storev1.Goal) (int64, error) {
	s, err := sum(r, goalScope(goal.Id))
	return goal.Allowance - total(s), err
}

func sum(r store.Reader, scope string) (*storev1.Sum, error) {
	s := new(storev1.Sum)
	_, err := record.Get(r, record.SumKey(scope), s)
	return s, err
}

func book(tx store.Tx, scope string, before, after *storev1.Sum) error {
	s, err := sum(tx, scope)
	if err != nil {
		return err
	}
	s.Reserved += after.Reserved - before.Reserved
	s.Contacted += after.Contacted - before.Contacted
	s.Settled += after.Settled - before.Settled
	s.Unknown += after.Unknown - before.Unknown
	return record.Put(tx, record.SumKey(scope), s)
}

// total is everything that counts against a ceiling. It saturates: a sum that overflows is over any
// ceiling.
func total(s *storev1.Sum) int64 {
	var t int64
	for _, part := range []int64{s.Reserved, s.Contacted, s.Settled, s.Unknown} {
		if part > math.MaxInt64-t {
			return math.MaxInt64
		}
		t += part
	}
	return t
}

// ceiling is one bound and the scope that it bounds.
type ceiling struct {
	what  string
	scope string
	limit int64
}

// check refuses when a scope plus extra would pass its limit.
func (c ceiling) check(r store.Reader, extra int64) error {
	s, err := sum(r, c.scope)
	if err != nil {
		return err
	}
	have := total(s)
	if have > c.limit || extra > c.limit-have {
		return reason.New(writv1.Reason_REASON_BUDGET_EXCEEDED,
			"%s: %d micro-USD held, settled or unknown plus %d would pass the ceiling of %d", c.what, have, extra, c.limit)
	}
	return nil
}
