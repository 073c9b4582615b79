package guard

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// authorityRows checks that owner, root and goal are those the operation was admitted under.
func authorityRows(r store.Reader, op *storev1.Operation, now int64) error {
	var owner storev1.Owner
	if ok, err := record.Get(r, record.OwnerKey(op.Owner), &owner); err != nil {
		return err
	} else if !ok {
		return reason.New(writv1.Reason_REASON_NOT_OWNER, "owner %s does not exist", op.Owner)
	}
	var root storev1.Root
	if ok, err := record.Get(r, record.RootKey(op.Owner), &root); err != nil {
		return err
	} else if !ok || root.Id != op.RootId || root.Revision != op.RootRevision || root.RevokedUs != 0 {
		return reason.New(writv1.Reason_REASON_ROOT_REVOKED, "root %s revision %d is not current", op.RootId, op.RootRevision)
	}
	var goal storev1.Goal
	if ok, err := record.Get(r, record.GoalKey(op.Owner, op.GoalId), &goal); err != nil {
		return err
	} else if !ok || goal.Revision != op.GoalRevision || goal.RevokedUs != 0 {
		return reason.New(writv1.Reason_REASON_GOAL_CHANGED, "goal %s revision %d is not current", op.GoalId, op.GoalRevision)
	} else if goal.ExpiresUs != 0 && goal.ExpiresUs <= now {
		return reason.New(writv1.Reason_REASON_GOAL_CHANGED, "goal %s has expired", op.GoalId)
	}
	return nil
}

// Sources checks that every permission revision that the bindings rely on is the current one, and,
// where source text goes towards a model, that there is one to rely on.
func Sources(r store.Reader, owner string, bindings []*storev1.SourceBinding, needsEgress bool) error {
	for _, b := range bindings {
		var source storev1.Source
		ok, err := record.Get(r, record.SourceKey(owner, b.SourceId), &source)
		if err != nil {
			return err
		}
		if !ok || source.Sha256 != b.Sha256 {
			return reason.New(writv1.Reason_REASON_READ_NOT_GRANTED, "source %s is not there", b.SourceId)
		}
		if !relies(b.ReadRevision, source.Read, needsEgress) {
			return reason.New(writv1.Reason_REASON_READ_NOT_GRANTED, "no current permission to read %s", source.Name).
				WithNext("grant read permission for %s and start a new operation", source.Name)
		}
		if !relies(b.EgressRevision, source.Egress, needsEgress) {
			return reason.New(writv1.Reason_REASON_EGRESS_NOT_GRANTED, "no current consent to send %s to a model", source.Name).
				WithNext("give egress consent for %s and start a new operation", source.Name)
		}
	}
	return nil
}

// Readable checks current read permission alone, which is what disclosure needs.
func Readable(r store.Reader, owner string, bindings []*storev1.SourceBinding) error {
	for _, b := range bindings {
		var source storev1.Source
		ok, err := record.Get(r, record.SourceKey(owner, b.SourceId), &source)
		if err != nil {
			return err
		}
		if !ok || !source.GetRead().GetGranted() {
			return reason.New(writv1.Reason_REASON_READ_NOT_GRANTED, "no current permission to read %s", b.SourceId)
		}
	}
	return nil
}

// relies reports whether a permission is as the operation expects it. Revision 0 relies on none.
func relies(expected uint64, current *storev1.Grant, required bool) bool {
	if expected == 0 {
		return !required
	}
	return current.GetGranted() && current.GetRevision() == expected
}
