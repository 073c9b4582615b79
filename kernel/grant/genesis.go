package grant

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/tlog"
	"github.com/writ-kernel/writ/policies"
)

// Genesis is what the host brings to the first opening of a store.
type Genesis struct {
	StoreID, LeafKey []byte // 32 random bytes each
	UID              uint32 // that owns the data directory
	Policy           *policies.Policy
}

// Open runs once per process start. The first time it creates the store row, the owner, its root and
// its default goal; afterwards it checks the format and starts a new boot epoch. A store of a newer
// format, or of another owner, is refused and nothing is changed.
func Open(tx store.Tx, g Genesis) error {
	var meta storev1.Store
	ok, err := record.Get(tx, record.StoreKey, &meta)
	if err != nil {
		return err
	}
	if !ok {
		return create(tx, g)
	}
	if meta.Format > record.Format {
		return reason.New(writv1.Reason_REASON_STORE_FORMAT, "the store has format %d, this binary knows up to %d", meta.Format, record.Format).
			WithNext("use the Writ version that wrote this store, or a newer one")
	}
	var owner storev1.Owner
	if ok, err := record.Get(tx, record.OwnerKey(g.Policy.Owner.Name), &owner); err != nil {
		return err
	} else if !ok || owner.Uid != g.UID {
		return reason.New(writv1.Reason_REASON_NOT_OWNER, "the store was not made for owner %q with uid %d", g.Policy.Owner.Name, g.UID)
	}
	meta.BootEpoch++
	return record.Put(tx, record.StoreKey, &meta)
}

func create(tx store.Tx, g Genesis) error {
	name := g.Policy.Owner.Name
	meta := &storev1.Store{Format: record.Format, StoreId: g.StoreID, LeafKey: g.LeafKey, BootEpoch: 1, CreatedUs: tx.Now()}
	owner := &storev1.Owner{Name: name, Uid: g.UID, Revision: 1, CreatedUs: tx.Now()}
	root := &storev1.Root{Id: record.RootID(g.StoreID, name), Owner: name, Revision: 1, CreatedUs: tx.Now()}
	goal := &storev1.Goal{
		Id: record.GoalID(g.StoreID, name), Owner: name, RootId: root.Id, Title: g.Policy.Goal.Title,
		Revision: 1, Allowance: g.Policy.Goal.Allowance, CreatedUs: tx.Now(),
	}
	if err := record.Put(tx, record.StoreKey, meta); err != nil {
		return err
	}
	if err := record.Put(tx, record.OwnerKey(name), owner); err != nil {
		return err
	}
	if err := record.Put(tx, record.RootKey(name), root); err != nil {
		return err
	}
	if err := record.Put(tx, record.GoalKey(name, goal.Id), goal); err != nil {
		return err
	}
	if _, err := tlog.AppendRecord(tx, "root.created", name, root.Id, root); err != nil {
		return err
	}
	_, err := tlog.AppendRecord(tx, "goal.created", name, goal.Id, goal)
	return err
}

// Root reads an owner's root.
func Root(r store.Reader, owner string) (*storev1.Root, error) {
	root := new(storev1.Root)
	ok, err := record.Get(r, record.RootKey(owner), root)
	if err != nil {
		return nil, err
	}
	if !ok || root.RevokedUs != 0 {
		return nil, reason.New(writv1.Reason_REASON_ROOT_REVOKED, "owner %s has no current root", owner)
	}
	return root, nil
}

// Goal reads one goal; the empty ID is the owner's default goal. A revision other than 0 must be the
// current one.
func Goal(r store.Reader, owner, id string, revision uint64) (*storev1.Goal, error) {
	if id == "" {
		var meta storev1.Store
		if _, err := record.Get(r, record.StoreKey, &meta); err != nil {
			return nil, err
		}
		id = record.GoalID(meta.StoreId, owner)
	}
	goal := new(storev1.Goal)
	ok, err := record.Get(r, record.GoalKey(owner, id), goal)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, reason.Field(writv1.Reason_REASON_NOT_FOUND, "goal", "goal %.64q does not exist", id)
	}
	if goal.RevokedUs != 0 {
		return nil, reason.Field(writv1.Reason_REASON_GOAL_CHANGED, "goal", "goal %s is revoked", id)
	}
	if revision != 0 && revision != goal.Revision {
		return nil, reason.Field(writv1.Reason_REASON_REVISION_MISMATCH, "goal_revision", "goal %s is at revision %d", id, goal.Revision)
	}
	return goal, nil
}
