package research

import (
	"github.com/writ-kernel/writ/kernel/artifact"
	"github.com/writ-kernel/writ/kernel/guard"
	"github.com/writ-kernel/writ/kernel/operation"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
)

// Outputs that a job may materialize, and the schema of each.
const (
	OutputPrompt   = "prompt"
	OutputResponse = "response"
	OutputDossier  = "dossier"
	OutputManifest = "manifest"

	schemaPrompt   = "research.prompt.v1"
	schemaResponse = "research.response.v1"
	schemaDossier  = "research.dossier.v1"
	schemaManifest = "research.manifest.v1"
)

const (
	mediaText = "text/plain; charset=utf-8"
	mediaJSON = "application/json"
)

// PromptReady is a child's checkpoint: the exact prompt, and the exact spans it quotes.
type PromptReady struct {
	PromptSHA256 string         `json:"prompt_sha256"`
	PromptBytes  int            `json:"prompt_bytes"`
	QuotedBytes  int            `json:"quoted_bytes"`
	Sources      []SourceRead   `json:"sources"`
	Passages     []PassageProof `json:"passages"`
}

// SourceRead is the record of one read.
type SourceRead struct {
	SourceID       string `json:"source_id"`
	RawSHA256      string `json:"raw_sha256"`
	Normalizer     string `json:"normalizer"`
	TextSHA256     string `json:"text_sha256"`
	ReaderSHA256   string `json:"reader_sha256"`
	FromLine       int    `json:"from_line"`
	ToLine         int    `json:"to_line"`
	ReadRevision   uint64 `json:"read_revision"`
	EgressRevision uint64 `json:"egress_revision"`
}

// PassageProof is one passage of the prompt by place and digest.
type PassageProof struct {
	ID         string `json:"id"`
	SourceID   string `json:"source_id"`
	Start      int    `json:"start"`
	End        int    `json:"end"`
	SpanSHA256 string `json:"span_sha256"`
}

const checkpointPromptReady = "research.prompt_ready"

// Permit checks that a child may read its sources and send them to a model. It needs every permission
// that the slot relies on, so a withheld one blocks here, before anything is prepared or funded.
func (c *Research) Permit(tx store.Tx, t guard.Tenure) (*storev1.Materialization, error) {
	s, err := c.guard.Authority(tx, guard.ArtifactWrite, t)
	if err != nil {
		return nil, err
	}
	if err := guard.Sources(tx, s.Op.Owner, s.Job.Sources, true); err != nil {
		return nil, err
	}
	admitted, err := DecodeAdmitted(s.Op)
	if err != nil {
		return nil, err
	}
	return artifact.Reserve(tx, s.Job, OutputPrompt, schemaPrompt, admitted.Governing.Research.PromptBytes)
}

// Ready records a prompt that was read back and lets the child wait for funding without a lease.
func (c *Research) Ready(tx store.Tx, t guard.Tenure, ready PromptReady) error {
	for _, b := range []guard.Boundary{guard.Readback, guard.Checkpoint} {
		if _, err := c.guard.Authority(tx, b, t); err != nil {
			return err
		}
	}
	s, err := guard.Load(tx, t.Job)
	if err != nil {
		return err
	}
	if err := artifact.Adopt(tx, outputID(s.Job, OutputPrompt), mediaJSON, ready.PromptSHA256, ready.PromptBytes); err != nil {
		return err
	}
	if err := operation.Checkpoint(tx, s.Job, checkpointPromptReady, ready); err != nil {
		return err
	}
	return c.jobs.Pause(tx, s.Job, writv1.Reason_REASON_RESEARCH_PROMPT_READY, PhaseSynthesize)
}

// LoadPromptReady reads a child's prompt-ready checkpoint.
func LoadPromptReady(r store.Reader, job string) (PromptReady, bool, error) {
	var ready PromptReady
	ok, err := operation.Latest(r, job, checkpointPromptReady, &ready)
	return ready, ok, err
}
