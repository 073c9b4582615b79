package operation

import (
	"google.golang.org/protobuf/proto"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/tlog"
)

// KeyBytes bounds an idempotency key.
const KeyBytes = 128

// Admission is everything that is fixed before an operation starts.
type Admission struct {
	Owner, Capability, Key string
	// Input is the caller's own part in canonical JSON; its digest decides sameness.
	Input []byte
	// Admitted is what was resolved; it is stored in canonical JSON with a digest of its own.
	Admitted       any
	PolicyRevision string
	Root           *storev1.Root
	Goal           *storev1.Goal
	Allowance      int64
	DeadlineUS     int64
	ParentKind     string
	FirstPhase     string
	Sources        []*storev1.SourceBinding
}

// Duplicate finds the operation already admitted under a key. The same input returns it, whatever
// has changed since; another input is a conflict and changes nothing.
func Duplicate(r store.Reader, owner, capability, key string, input []byte) (*storev1.Operation, error) {
	var ref storev1.Ref
	ok, err := record.Get(r, record.IdempotencyKey(owner, capability, key), &ref)
	if err != nil || !ok {
		return nil, err
	}
	op := new(storev1.Operation)
	if _, err := record.Get(r, record.OperationKey(ref.Id), op); err != nil {
		return nil, err
	}
	if op.InputSha256 != canon.Digest(input) {
		return nil, reason.Field(writv1.Reason_REASON_CONFLICT, "idempotency_key", "this key was used for other input by operation %s", op.Id).
			WithNext("use another key for a new operation, or repeat the first input exactly")
	}
	return op, nil
}

// Admit stores a new operation with its queued parent job. The caller has looked for a duplicate in
// the same transaction.
func Admit(tx store.Tx, a Admission) (*storev1.Operation, error) {
	admitted, err := canon.Marshal(a.Admitted)
	if err != nil {
		return nil, err
	}
	var meta storev1.Store
	if _, err := record.Get(tx, record.StoreKey, &meta); err != nil {
		return nil, err
	}
	id := record.OperationID(meta.StoreId, a.Owner, a.Capability, a.Key)
	op := &storev1.Operation{
		Id: id, Owner: a.Owner, Capability: a.Capability, IdempotencyKey: a.Key,
		Input: a.Input, InputSha256: canon.Digest(a.Input), Admitted: admitted, AdmittedSha256: canon.Digest(admitted),
		PolicyRevision: a.PolicyRevision, RootId: a.Root.Id, RootRevision: a.Root.Revision,
		GoalId: a.Goal.Id, GoalRevision: a.Goal.Revision, Allowance: a.Allowance,
		CreatedUs: tx.Now(), DeadlineUs: a.DeadlineUS, ParentJob: record.JobID(id, 0),
	}
	for key, row := range map[string]proto.Message{
		string(record.OperationKey(id)):                             op,
		string(record.IdempotencyKey(a.Owner, a.Capability, a.Key)): &storev1.Ref{Id: id},
		string(record.HistoryKey(a.Owner, op.CreatedUs, id)):        &storev1.Ref{Id: id},
	} {
		if err := record.Put(tx, []byte(key), row); err != nil {
			return nil, err
		}
	}
	if _, err := tlog.AppendRecord(tx, "operation.admitted", a.Owner, id, op); err != nil {
		return nil, err
	}
	return op, create(tx, &storev1.Job{
		Id: op.ParentJob, OperationId: id, Owner: a.Owner, Kind: a.ParentKind, State: Queued, Phase: a.FirstPhase,
		CreatedUs: tx.Now(), DeadlineUs: a.DeadlineUS, Sources: a.Sources,
	}, "")
}

// Get reads one operation of an owner. Somebody else's reads the same as one that is not there.
func Get(r store.Reader, owner, id string) (*storev1.Operation, error) {
	op := new(storev1.Operation)
	ok, err := record.Get(r, record.OperationKey(id), op)
	if err != nil {
		return nil, err
	}
	if !ok || op.Owner != owner {
		return nil, reason.Field(writv1.Reason_REASON_NOT_FOUND, "operation_id", "operation %.64q does not exist", id)
	}
	return op, nil
}

// CreateChild stores a queued child of a parent that is being worked on, under its creation lineage.
func CreateChild(tx store.Tx, parent *storev1.Job, child *storev1.Job) error {
	child.Id = record.JobID(parent.OperationId, child.Slot)
	child.OperationId, child.Owner, child.State, child.CreatedUs = parent.OperationId, parent.Owner, Queued, tx.Now()
	child.Lineage = parent.Lineage
	return create(tx, child, "")
}

// RecordLineage fixes a parent's creation lineage at its present tenure. It is written once.
func RecordLineage(tx store.Tx, parent *storev1.Job) error {
	if parent.Lineage != nil {
		return reason.New(writv1.Reason_REASON_LINEAGE_MISMATCH, "job %s has created its children already", parent.Id)
	}
	return apply(tx, parent, func() {
		parent.Lineage = &storev1.Lineage{ParentJob: parent.Id, AttemptId: parent.AttemptId, Fence: parent.Fence}
	})
}
