package research

import (
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/kernel/artifact"
	"github.com/writ-kernel/writ/kernel/evidence"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/tlog"
)

// Manifest builds the typed source, child and adoption manifest from durable rows alone. The same rows
// give the same manifest, so adoption can prove that nothing moved since it was assembled.
func Manifest(r store.Reader, op *storev1.Operation) (wasm.Dossier, error) {
	admitted, err := DecodeAdmitted(op)
	if err != nil {
		return wasm.Dossier{}, err
	}
	d := wasm.Dossier{
		Schema: wasm.DossierSchema, OperationID: op.Id, Question: admitted.Question, Complete: true,
		CreatedAt: rfc3339(op.CreatedUs), Deadline: rfc3339(op.DeadlineUs), Normalizer: evidence.TextV1,
		Route: wasm.DossierRoute{
			Name: admitted.Governing.RouteName, Deployment: admitted.Governing.Route.Deployment,
			Model: admitted.Governing.Route.Model, LanguageModel: admitted.Governing.Route.LanguageModel,
			Provider: admitted.Pins.Model.Name, ProviderVersion: admitted.Pins.Model.Version, ProviderSHA256: admitted.Pins.Model.SHA256,
		},
		NoLearning: admitted.NoLearning,
	}
	var claims []evidence.Claim
	prepared := make(map[int]bool)
	for _, slot := range admitted.Slots {
		entry, err := slotEntry(r, op, slot)
		if err != nil {
			return wasm.Dossier{}, err
		}
		d.Complete = d.Complete && entry.State == slotComplete
		for i, claim := range entry.Claims {
			claims = append(claims, evidence.Claim{Slot: slot.Slot, Index: i, Text: claim.Text, Citations: claim.Citations})
		}
		d.Slots = append(d.Slots, entry)
		if _, prepared[slot.Slot], err = LoadPromptReady(r, record.JobID(op.Id, uint32(slot.Slot))); err != nil {
			return wasm.Dossier{}, err
		}
	}
	d.Conflicts = evidence.Conflicts(claims)
	d.Sources = sourceEntries(admitted, prepared)
	if d.Receipts, err = receipts(r, op.Id); err != nil {
		return wasm.Dossier{}, err
	}
	sum, err := ledger.Sum(r, op.Id)
	d.Money = wasm.DossierMoney{
		Allowance: op.Allowance, Reserved: sum.Reserved, Contacted: sum.Contacted, Settled: sum.Settled, Unknown: sum.Unknown,
	}
	return d, err
}

const slotComplete = "complete"

func slotEntry(r store.Reader, op *storev1.Operation, slot AdmittedSlot) (wasm.DossierSlot, error) {
	entry := wasm.DossierSlot{
		Slot: slot.Slot, Perspective: slot.Perspective,
		Claims: []wasm.DossierClaim{}, Contradictions: []wasm.Contradiction{},
	}
	job, err := operation.Job(r, record.JobID(op.Id, uint32(slot.Slot)))
	if err != nil {
		return entry, err
	}
	entry.State, entry.Reason, entry.Detail = slotState(job.State), reason.Name(job.Reason), job.Detail
	out, ok, err := LoadOutput(r, job.Id)
	if err != nil || !ok || job.State != operation.Succeeded {
		return entry, err
	}
	entry.Uncertainty = out.Uncertainty
	entry.Claims = append(entry.Claims, out.Claims...)
	entry.Contradictions = append(entry.Contradictions, out.Contradictions...)
	return entry, nil
}

func slotState(s operation.State) string {
	switch s {
	case operation.Succeeded:
		return slotComplete
	case operation.Blocked:
		return "blocked"
	case operation.Failed:
		return "failed"
	case operation.Unknown:
		return "unknown"
	}
	return "incomplete"
}

// sourceEntries lists every admitted source and whether any slot read it.
func sourceEntries(admitted Admitted, prepared map[int]bool) []wasm.DossierSource {
	entries := []wasm.DossierSource{}
	for _, source := range admitted.Sources {
		entry := wasm.DossierSource{
			Source: source.ID, Name: source.Name, RawSHA256: source.SHA256, TextSHA256: source.TextSHA256,
			Size: source.Size, Lines: source.Lines, Ranges: []wasm.SlotRange{}, Status: "not read",
		}
		for _, slot := range admitted.Slots {
			for _, use := range slot.Sources {
				if use.SourceID != source.ID {
					continue
				}
				if !prepared[slot.Slot] {
					continue
				}
				entry.Status = "read"
				entry.Ranges = append(entry.Ranges, wasm.SlotRange{Slot: slot.Slot, FromLine: use.FromLine, ToLine: use.ToLine})
			}
		}
		if entry.Status != "read" {
			entry.Reason = "no slot that uses it was prepared"
		}
		entries = append(entries, entry)
	}
	return entries
}

func receipts(r store.Reader, op string) ([]wasm.DossierReceipt, error) {
	rows, err := ledger.Of(r, op)
	list := []wasm.DossierReceipt{}
	for _, row := range rows {
		list = append(list, wasm.DossierReceipt{
			ReservationID: row.Id, Slot: int(row.Slot), State: ledger.StateName(row.State), Deployment: row.Deployment,
			Bound: row.Bound, Actual: row.Actual, Evidence: row.Evidence, PayloadSHA256: row.PayloadSha256, ResponseSHA256: row.ResponseSha256,
		})
	}
	return list, err
}

// rfc3339 renders microseconds since 1970.
func rfc3339(us int64) string { return time.UnixMicro(us).UTC().Format(time.RFC3339) }

// Promise reserves the two results before their bytes are written.
func (c *Research) Promise(tx store.Tx, t guard.Tenure) (dossier, manifest *storev1.Materialization, err error) {
	s, err := c.guard.Authority(tx, guard.ArtifactWrite, t)
	if err != nil {
		return nil, nil, err
	}
	admitted, err := DecodeAdmitted(s.Op)
	if err != nil {
		return nil, nil, err
	}
	limits := admitted.Governing.Research
	if dossier, err = artifact.Reserve(tx, s.Job, OutputDossier, schemaDossier, limits.DossierBytes); err != nil {
		return nil, nil, err
	}
	manifest, err = artifact.Reserve(tx, s.Job, OutputManifest, schemaManifest, limits.ManifestBytes)
	return dossier, manifest, err
}

// Result is an assembled dossier that was stored and read back.
type Result struct {
	DossierSHA256  string
	DossierSize    int
	ManifestSHA256 string
	ManifestSize   int
}

// Adopt makes an assembled result the operation's own: a fresh lease and every current permission are
// needed, and the manifest must still be the one that the rows give.
func (c *Research) Adopt(tx store.Tx, t guard.Tenure, result Result) error {
	for _, b := range []guard.Boundary{guard.Readback, guard.Adoption, guard.Terminal} {
		if _, err := c.guard.Authority(tx, b, t); err != nil {
			return err
		}
	}
	s, err := guard.Load(tx, t.Job)
	if err != nil {
		return err
	}
	manifest, err := Manifest(tx, s.Op)
	if err != nil {
		return err
	}
	raw, err := canon.Marshal(manifest)
	if err != nil {
		return err
	}
	if canon.Digest(raw) != result.ManifestSHA256 {
		return reason.New(writv1.Reason_REASON_ARTIFACT_MISMATCH, "the operation's rows moved after the dossier was assembled")
	}
	if err := artifact.Adopt(tx, outputID(s.Job, OutputDossier), mediaText, result.DossierSHA256, result.DossierSize); err != nil {
		return err
	}
	if err := artifact.Adopt(tx, outputID(s.Job, OutputManifest), mediaJSON, result.ManifestSHA256, result.ManifestSize); err != nil {
		return err
	}
	lacks := lacking(manifest)
	err = operation.EditOperation(tx, s.Op.Id, func(op *storev1.Operation) {
		op.DossierSha256, op.ManifestSha256, op.Incomplete = result.DossierSHA256, result.ManifestSHA256, lacks != nil
	})
	if err != nil {
		return err
	}
	if _, err := tlog.Append(tx, tlog.Entry{Kind: "operation.adopted", Owner: s.Op.Owner, Subject: s.Op.Id, SHA256: result.ManifestSHA256}); err != nil {
		return err
	}
	return c.jobs.Succeed(tx, s.Job, lacks)
}

// lacking names what keeps a dossier from being complete: the first slot that ended without a result
// for a reason of its own.
func lacking(d wasm.Dossier) *reason.Error {
	if d.Complete {
		return nil
	}
	var first *reason.Error
	for _, slot := range d.Slots {
		if slot.State == slotComplete {
			continue
		}
		why := reason.New(reason.Parse(slot.Reason), "slot %d is %s: %s", slot.Slot, slot.State, slot.Detail)
		if first == nil || reason.CodeOf(first) == writv1.Reason_REASON_CHILD_UNPREPARED {
			first = why
		}
	}
	return first
}
