package artifact

import (
	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

const (
	stateReserved = storev1.MaterializationState_MATERIALIZATION_STATE_RESERVED
	stateAdopted  = storev1.MaterializationState_MATERIALIZATION_STATE_ADOPTED
)

// Reserve promises one output of a job before its bytes are written: {operation, producer attempt,
// lineage, schema, max bytes} under the output's ID. The caller has passed the artifact-write
// boundary. Reserving the same output again returns the first promise, which a restart recognizes
// its own file by.
func Reserve(tx store.Tx, job *storev1.Job, output, schema string, maxBytes int) (*storev1.Materialization, error) {
	return promise(tx, &storev1.Materialization{
		Id: record.MaterializationID(job.Id, output), Owner: job.Owner, OperationId: job.OperationId, JobId: job.Id,
		AttemptId: job.AttemptId, Fence: job.Fence, Lineage: job.Lineage, Schema: schema, MaxBytes: uint64(maxBytes),
	})
}

// ReserveImport promises one file of a source that an owner imports, before its bytes are written. An
// import has no job; its digest names it.
func ReserveImport(tx store.Tx, owner, sha256, schema string, size int) (*storev1.Materialization, error) {
	return promise(tx, &storev1.Materialization{
		Id: ImportID(owner, sha256), Owner: owner, Schema: schema, MaxBytes: uint64(size),
	})
}

// ImportID names the promise of an imported file.
func ImportID(owner, sha256 string) string {
	return record.MaterializationID("import_"+canon.Digest([]byte(owner))[:12], sha256)
}

func promise(tx store.Tx, m *storev1.Materialization) (*storev1.Materialization, error) {
	before := new(storev1.Materialization)
	ok, err := record.Get(tx, record.MaterializationKey(m.Id), before)
	if err != nil {
		return nil, err
	}
	if ok {
		// Identical bytes may be imported under several schemas; a job's output has exactly one.
		if m.JobId != "" && before.Schema != m.Schema || before.JobId != m.JobId || before.MaxBytes != m.MaxBytes {
			return nil, reason.New(writv1.Reason_REASON_ARTIFACT_MISMATCH, "output %s was promised as %s of %d bytes", m.Id, before.Schema, before.MaxBytes)
		}
		return before, nil
	}
	m.Version, m.State, m.ReservedUs = 1, stateReserved, tx.Now()
	return m, record.Put(tx, record.MaterializationKey(m.Id), m)
}

// Adopt binds a promise to bytes that were read back. Adopting the same bytes again changes nothing;
// other bytes under the same promise are refused.
func Adopt(tx store.Tx, id, mediaType, sha256 string, size int) error {
	m, err := Get(tx, id)
	if err != nil {
		return err
	}
	if m.State == stateAdopted && m.Sha256 == sha256 {
		return nil
	}
	if m.State != stateReserved || uint64(size) > m.MaxBytes || !canon.IsDigest(sha256) {
		return reason.New(writv1.Reason_REASON_ARTIFACT_MISMATCH, "output %s is %s, %d bytes of at most %d", id, m.State, size, m.MaxBytes)
	}
	m.State, m.Sha256, m.Size, m.EndedUs = stateAdopted, sha256, uint64(size), tx.Now()
	if err := record.Put(tx, record.MaterializationKey(id), m); err != nil {
		return err
	}
	return Put(tx, m.Owner, mediaType, sha256, size)
}

// Get reads one promise.
func Get(r store.Reader, id string) (*storev1.Materialization, error) {
	m := new(storev1.Materialization)
	ok, err := record.Get(r, record.MaterializationKey(id), m)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, reason.New(writv1.Reason_REASON_NOT_FOUND, "output %s was never promised", id)
	}
	return m, nil
}

// Adopted reports whether a promise was kept, and with which bytes.
func Adopted(m *storev1.Materialization) bool { return m.State == stateAdopted }

// Put records an owner's immutable bytes.
func Put(tx store.Tx, owner, mediaType, sha256 string, size int) error {
	row := new(storev1.Artifact)
	ok, err := record.Get(tx, record.ArtifactKey(owner, sha256), row)
	if err != nil || ok {
		return err
	}
	return record.Put(tx, record.ArtifactKey(owner, sha256), &storev1.Artifact{
		Owner: owner, Sha256: sha256, Size: uint64(size), MediaType: mediaType, CreatedUs: tx.Now(),
	})
}

// Of lists an operation's promises.
func Of(r store.Reader, operation string) ([]*storev1.Materialization, error) {
	var all []*storev1.Materialization
	err := record.Each(r, record.MaterializationPrefix(operation), func(m *storev1.Materialization) error {
		all = append(all, m)
		return nil
	})
	return all, err
}
