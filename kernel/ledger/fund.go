package ledger

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/tlog"
	"github.com/writ-kernel/writ/policies"
)

// Call is one slot of a group: the exact payload that its reservation binds.
type Call struct {
	Slot           uint32
	PayloadSHA256  string
	PayloadBytes   int
	OutputTokens   int
	Subset         int64  // b_i, fixed at admission
	ProviderSHA256 string // digest of the adapter that will run
}

// Fund holds money for every call of a group, or for none, under the parent's live lease and for
// prompt-ready paused children only. A returned refusal means that nothing was written and that the
// caller must commit it as the parent's block; replaying an identical funding returns the group.
func (l *Ledger) Fund(tx store.Tx, parent guard.Tenure, governing policies.Governing, calls []Call) (*storev1.Group, *reason.Error, error) {
	scope, err := l.guard.Authority(tx, guard.CostBind, parent)
	if err != nil {
		return nil, nil, err
	}
	rows, refusal := plan(tx, scope, governing, calls)
	if refusal != nil {
		typed, ok := reason.As(refusal)
		if !ok {
			return nil, nil, refusal
		}
		return nil, typed, nil
	}
	if group, found, err := existing(tx, scope.Op.Id, rows); err != nil || found {
		typed, ok := reason.As(err)
		if ok {
			return nil, typed, nil
		}
		return group, nil, err
	}
	if refusal := affordable(tx, scope.Op, governing, rows); refusal != nil {
		typed, ok := reason.As(refusal)
		if !ok {
			return nil, nil, refusal
		}
		return nil, typed, nil
	}
	group := &storev1.Group{Id: scope.Op.Id + ".g", OperationId: scope.Op.Id, AtUs: tx.Now(), Sha256: groupDigest(rows)}
	for _, row := range rows {
		row.ReservedUs, row.Period, row.GroupId = tx.Now(), Period(tx.Now()), group.Id
		if err := change(tx, row, "reserved", func() { row.State = reserved }); err != nil {
			return nil, nil, err
		}
		group.ReservationIds = append(group.ReservationIds, row.Id)
	}
	// One leaf covers the whole set; a child's claim reads it back.
	group.Leaf, err = tlog.Append(tx, tlog.Entry{Kind: "ledger.funded", Owner: scope.Op.Owner, Subject: group.Id, SHA256: group.Sha256})
	if err != nil {
		return nil, nil, err
	}
	return group, nil, record.Put(tx, record.GroupKey(scope.Op.Id), group)
}

// plan builds the rows that the group must have, checking each slot's child.
func plan(tx store.Tx, scope *guard.Scope, governing policies.Governing, calls []Call) ([]*storev1.Reservation, error) {
	if revision := governing.Revision(); revision != scope.Op.PolicyRevision {
		return nil, policyChanged(scope.Op, revision)
	}
	var rows []*storev1.Reservation
	for _, call := range calls {
		child, err := guard.Load(tx, record.JobID(scope.Op.Id, call.Slot))
		if err != nil {
			return nil, err
		}
		if child.Job.State != writv1.JobState_JOB_STATE_PAUSED || child.Job.Reason != writv1.Reason_REASON_RESEARCH_PROMPT_READY {
			return nil, reason.New(writv1.Reason_REASON_CHILD_UNPREPARED, "slot %d is not prompt-ready", call.Slot)
		}
		if err := guard.Sources(tx, scope.Op.Owner, child.Job.Sources, true); err != nil {
			return nil, err
		}
		bound, err := governing.Route.Bound(call.PayloadBytes, call.OutputTokens)
		if err != nil {
			return nil, err
		}
		if bound > call.Subset {
			return nil, reason.New(writv1.Reason_REASON_BUDGET_EXCEEDED, "slot %d: the trusted bound of %d micro-USD exceeds its fixed subset of %d", call.Slot, bound, call.Subset)
		}
		rows = append(rows, &storev1.Reservation{
			Id: record.ReservationID(scope.Op.Id, call.Slot), OperationId: scope.Op.Id, JobId: child.Job.Id, Slot: call.Slot,
			Owner: scope.Op.Owner, GoalId: scope.Op.GoalId, Deployment: governing.Route.Deployment, Route: governing.RouteName,
			Bound: bound, PayloadSha256: call.PayloadSHA256, PolicyRevision: scope.Op.PolicyRevision,
			ProviderSha256: call.ProviderSHA256, Lineage: child.Job.Lineage, BoundFence: child.Job.Fence,
			DeadlineUs: child.Job.DeadlineUs,
			Rerunnable: governing.Route.Local && governing.Route.Deterministic && governing.Route.Free(),
		})
	}
	return rows, nil
}

// affordable checks every ceiling against the whole group.
func affordable(tx store.Tx, op *storev1.Operation, governing policies.Governing, rows []*storev1.Reservation) error {
	var need int64
	for _, row := range rows {
		if row.Bound > op.Allowance-need {
			return reason.New(writv1.Reason_REASON_BUDGET_EXCEEDED, "the bounds of all slots exceed the operation's allowance of %d micro-USD", op.Allowance)
		}
		need += row.Bound
	}
	if err := unreviewedOverrun(tx, governing.Route.Deployment); err != nil {
		return err
	}
	list, err := ceilings(tx, op, governing)
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := c.check(tx, need); err != nil {
			return err
		}
	}
	return nil
}

// ceilings lists the bounds that apply to an operation now.
func ceilings(tx store.Tx, op *storev1.Operation, governing policies.Governing) ([]ceiling, error) {
	var goal storev1.Goal
	if _, err := record.Get(tx, record.GoalKey(op.Owner, op.GoalId), &goal); err != nil {
		return nil, err
	}
	today := Period(tx.Now())
	return []ceiling{
		{"operation allowance", operationScope(op.Id), op.Allowance},
		{"goal allowance", goalScope(op.GoalId), goal.Allowance},
		{"owner's day", ownerScope(op.Owner, today), governing.Ledger.OwnerDay},
		{"deployment's day", deploymentScope(governing.Route.Deployment, today), governing.Ledger.DeploymentDay},
	}, nil
}

// existing finds the group of an earlier, identical funding. Anything less than identical blocks and
// is never topped up.
func existing(tx store.Tx, operation string, rows []*storev1.Reservation) (*storev1.Group, bool, error) {
	found, err := Of(tx, operation)
	if err != nil {
		return nil, false, err
	}
	group := new(storev1.Group)
	ok, err := record.Get(tx, record.GroupKey(operation), group)
	if err != nil {
		return nil, false, err
	}
	if !ok && len(found) == 0 {
		return nil, false, nil
	}
	if !ok || groupDigest(rows) != group.Sha256 || groupDigest(found) != group.Sha256 {
		return nil, false, reason.New(writv1.Reason_REASON_GROUP_PARTIAL, "the funded group of %s differs from what was asked; it is never topped up", operation)
	}
	return group, true, nil
}

// Whole reads a funded group back: every row, its digest and the leaf that covers it.
func Whole(r store.Reader, operation string) error {
	group := new(storev1.Group)
	ok, err := record.Get(r, record.GroupKey(operation), group)
	if err != nil {
		return err
	}
	rows, err := Of(r, operation)
	if err != nil {
		return err
	}
	if !ok || len(rows) != len(group.ReservationIds) || groupDigest(rows) != group.Sha256 {
		return reason.New(writv1.Reason_REASON_GROUP_PARTIAL, "the group of %s is not whole", operation)
	}
	leaf, ok, err := tlog.Leaf(r, group.Leaf)
	if err != nil {
		return err
	}
	if !ok || leaf.Subject != group.Id || leaf.Sha256 != group.Sha256 {
		return reason.New(writv1.Reason_REASON_GROUP_PARTIAL, "no log entry covers the group of %s", operation)
	}
	return nil
}

// groupDigest covers the immutable fields of every member.
func groupDigest(rows []*storev1.Reservation) string {
	var all []byte
	for _, row := range rows {
		all = append(all, immutable(row)...)
	}
	return canon.Digest(all)
}

func policyChanged(op *storev1.Operation, now string) error {
	return reason.New(writv1.Reason_REASON_POLICY_CHANGED, "admitted under policy %.12s, the policy is now %.12s", op.PolicyRevision, now).
		WithNext("start a new operation under the current policy")
}
