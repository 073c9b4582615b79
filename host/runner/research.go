package runner

import (
	"context"
	"time"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	border "github.com/writ-kernel/writ/abi/research"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/kernel/evidence"
	"github.com/writ-kernel/writ/kernel/operation"
	"github.com/writ-kernel/writ/kernel/record"
	"github.com/writ-kernel/writ/kernel/research"
	"github.com/writ-kernel/writ/kernel/store"
)

type step func(context.Context, *operation.Claimed) error

// researchSteps maps each phase of the capability to its work.
func (r *Runner) researchSteps() map[string]step {
	return map[string]step{
		research.ParentKind + "/" + research.PhaseCreate:    r.create,
		research.ParentKind + "/" + research.PhaseFund:      r.fund,
		research.ParentKind + "/" + research.PhaseAssemble:  r.assemble,
		research.ChildKind + "/" + research.PhasePrepare:    r.prepare,
		research.ChildKind + "/" + research.PhaseSynthesize: r.synthesize,
	}
}

func (r *Runner) create(ctx context.Context, c *operation.Claimed) error {
	return r.Store.Update(ctx, func(tx store.Tx) error { return r.Research.Create(tx, c.Tenure) })
}

func (r *Runner) fund(ctx context.Context, c *operation.Claimed) error {
	governing, err := r.Policy.Governing(routeOf(c))
	if err != nil {
		return err
	}
	return r.Store.Update(ctx, func(tx store.Tx) error { return r.Research.Fund(tx, c.Tenure, governing) })
}

// routeOf is the admitted route's name; a route that policy has dropped since is then refused.
func routeOf(c *operation.Claimed) string {
	admitted, err := research.DecodeAdmitted(c.Op)
	if err != nil {
		return ""
	}
	return admitted.Governing.RouteName
}

// prepare reads the sources of one child, builds its exact prompt and stores it.
func (r *Runner) prepare(ctx context.Context, c *operation.Claimed) error {
	// The promise is also the permission: nothing is read before it.
	err := r.Store.Update(ctx, func(tx store.Tx) error {
		_, err := r.Research.Permit(tx, c.Tenure)
		return err
	})
	if err != nil {
		return err
	}
	p, err := r.preparation(ctx, c)
	if err != nil {
		return err
	}
	promise := record.MaterializationID(c.Job.Id, research.OutputPrompt)
	if _, err := r.Files.Write(c.Op.Owner, promise, p.prompt, p.admitted.Governing.Research.PromptBytes); err != nil {
		return err
	}
	err = r.Store.Update(ctx, func(tx store.Tx) error { return r.Research.Ready(tx, c.Tenure, p.ready) })
	if err != nil {
		return err
	}
	return r.Files.Settled(c.Op.Owner, promise)
}

// preparation is everything a child's prompt rests on. It is a pure function of the admitted record
// and the stored source bytes, so a restart, and the check of the answer, derive it anew.
type preparation struct {
	admitted research.Admitted
	slot     research.AdmittedSlot
	table    *evidence.Table
	prompt   []byte
	ready    research.PromptReady
}

func (r *Runner) preparation(ctx context.Context, c *operation.Claimed) (*preparation, error) {
	admitted, err := research.DecodeAdmitted(c.Op)
	if err != nil {
		return nil, err
	}
	p := &preparation{admitted: admitted, slot: admitted.Slots[c.Job.Slot-1], table: new(evidence.Table)}
	for _, use := range p.slot.Sources {
		if err := r.expose(ctx, c.Op.Owner, p, use); err != nil {
			return nil, err
		}
	}
	limits := admitted.Governing.Research
	p.ready.QuotedBytes = p.table.Bytes()
	if p.ready.QuotedBytes > limits.ExcerptBytes {
		return nil, reason.New(writv1.Reason_REASON_EXCERPT_TOO_LARGE, "the approved lines quote %d bytes, at most %d are allowed per slot", p.ready.QuotedBytes, limits.ExcerptBytes).
			WithNext("approve shorter line ranges in a new operation")
	}
	if len(p.table.Passages()) == 0 {
		return nil, reason.New(writv1.Reason_REASON_NOT_TEXT, "the approved lines hold no words")
	}
	task := border.Task{Question: admitted.Question, Perspective: p.slot.Perspective}
	for _, passage := range p.table.Passages() {
		task.Passages = append(task.Passages, taskPassage(passage))
		p.ready.Passages = append(p.ready.Passages, research.PassageProof{
			ID: passage.ID, SourceID: passage.Source, Start: passage.Start, End: passage.End, SpanSHA256: passage.SpanSHA256,
		})
	}
	if p.prompt, err = border.BuildPrompt(task); err != nil {
		return nil, err
	}
	if len(p.prompt) > limits.PromptBytes {
		return nil, reason.New(writv1.Reason_REASON_PROMPT_TOO_LARGE, "the complete prompt has %d bytes, at most %d are allowed", len(p.prompt), limits.PromptBytes)
	}
	p.ready.PromptSHA256, p.ready.PromptBytes = canon.Digest(p.prompt), len(p.prompt)
	return p, nil
}

// taskPassage is a passage as a model sees it: the model needs no place and no digest.
func taskPassage(p evidence.Passage) border.Passage {
	role := p.Role
	if role == wasm.RoleBody {
		role = ""
	}
	return border.Passage{ID: p.ID, Kind: p.Kind, Role: role, Text: p.Text}
}

// expose adds the approved lines of one source to the child's passage table.
func (r *Runner) expose(ctx context.Context, owner string, p *preparation, use research.SourceUse) error {
	source := p.admitted.Source(use.SourceID)
	text, err := r.text(owner, source, p.admitted.Governing.Research.SourceBytes)
	if err != nil {
		return err
	}
	reader := p.admitted.Pins.Reader(source.Name)
	segments, err := r.Modules.Structure(ctx, reader, []byte(text.String()))
	if err != nil {
		return err
	}
	if err := p.table.Add(text, source.ID, source.Name, segments, []evidence.LineRange{{From: use.FromLine, To: use.ToLine}}); err != nil {
		return err
	}
	p.ready.Sources = append(p.ready.Sources, research.SourceRead{
		SourceID: source.ID, RawSHA256: source.SHA256, Normalizer: source.Normalizer, TextSHA256: source.TextSHA256,
		ReaderSHA256: reader.SHA256, FromLine: use.FromLine, ToLine: use.ToLine,
		ReadRevision: use.ReadRevision, EgressRevision: use.EgressRevision,
	})
	return nil
}

// text reads a source back and proves anew that its normalized text belongs to its raw bytes.
func (r *Runner) text(owner string, source research.AdmittedSource, limit int) (*evidence.Text, error) {
	var parts [3][]byte
	for i, digest := range []string{source.SHA256, source.TextSHA256, source.MapSHA256} {
		var err error
		if parts[i], err = r.Files.Read(owner, digest, limit); err != nil {
			return nil, err
		}
	}
	return evidence.NewText(parts[0], parts[1], parts[2])
}

// assemble words the manifest that the rows give and lets the kernel adopt it. A charge that settles
// late moves the rows; the dossier is then assembled from the new ones.
func (r *Runner) assemble(ctx context.Context, c *operation.Claimed) error {
	const tries = 3
	var err error
	for range tries {
		if err = r.assembleOnce(ctx, c); !reason.Is(err, writv1.Reason_REASON_ARTIFACT_MISMATCH) {
			return err
		}
	}
	return err
}

func (r *Runner) assembleOnce(ctx context.Context, c *operation.Claimed) error {
	admitted, err := research.DecodeAdmitted(c.Op)
	if err != nil {
		return err
	}
	limits := admitted.Governing.Research
	err = r.Store.Update(ctx, func(tx store.Tx) error {
		_, _, err := r.Research.Promise(tx, c.Tenure)
		return err
	})
	if err != nil {
		return err
	}
	manifest, err := store.Read(ctx, r.Store, func(s store.Reader) ([]byte, error) {
		d, err := research.Manifest(s, c.Op)
		if err != nil {
			return nil, err
		}
		return canon.Marshal(d)
	})
	if err != nil {
		return err
	}
	if len(manifest) > limits.ManifestBytes {
		return reason.New(writv1.Reason_REASON_OUTPUT_TOO_LARGE, "the manifest has %d bytes, at most %d are allowed", len(manifest), limits.ManifestBytes)
	}
	dossier, err := r.Modules.Assemble(ctx, admitted.Pins.Assembler, manifest)
	if err != nil {
		return err
	}
	result := research.Result{DossierSize: len(dossier), ManifestSize: len(manifest)}
	dossierID := record.MaterializationID(c.Job.Id, research.OutputDossier)
	if result.DossierSHA256, err = r.Files.Write(c.Op.Owner, dossierID, dossier, limits.DossierBytes); err != nil {
		return err
	}
	manifestID := record.MaterializationID(c.Job.Id, research.OutputManifest)
	if result.ManifestSHA256, err = r.Files.Write(c.Op.Owner, manifestID, manifest, limits.ManifestBytes); err != nil {
		return err
	}
	if err := r.Store.Update(ctx, func(tx store.Tx) error { return r.Research.Adopt(tx, c.Tenure, result) }); err != nil {
		return err
	}
	if err := r.Files.Settled(c.Op.Owner, dossierID); err != nil {
		return err
	}
	return r.Files.Settled(c.Op.Owner, manifestID)
}

// contactTime is how long a provider call may take: the policy's bound, never past the job's deadline.
// What is left is counted on the store's clock, which set the deadline.
func (r *Runner) contactTime(ctx context.Context, c *operation.Claimed, admitted research.Admitted) (time.Duration, error) {
	now, err := store.Do(ctx, r.Store, func(tx store.Tx) (int64, error) { return tx.Now(), nil })
	bound := time.Duration(admitted.Governing.Research.ContactSeconds) * time.Second
	return min(bound, time.Duration(c.Job.DeadlineUs-now)*time.Microsecond), err
}
