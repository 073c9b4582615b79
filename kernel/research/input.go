package research

import (
	"fmt"
	"strings"
	"unicode/utf8"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/policies"
)

// Stable names. Kinds are internal: no request can name one.
const (
	Capability = "work.research-dossier.v1"
	ParentKind = "research_dossier"
	ChildKind  = "readonly_research_child"
)

// Input is the caller's own part. Its canonical JSON is what sameness is decided by.
type Input struct {
	Question     string `json:"question"`
	Slots        []Slot `json:"slots"`
	Allowance    int64  `json:"allowance"` // micro-USD
	Route        string `json:"route"`     // empty: the policy's default
	Goal         string `json:"goal"`      // empty: the owner's default
	GoalRevision uint64 `json:"goal_revision"`
	Limits       Limits `json:"limits"`
}

// Slot fixes one child.
type Slot struct {
	Perspective string      `json:"perspective"`
	Sources     []SourceUse `json:"sources"`
}

// SourceUse approves lines FromLine to ToLine of a source under exact permission revisions; revision
// 0 relies on no permission.
type SourceUse struct {
	SourceID       string `json:"source_id"`
	SHA256         string `json:"sha256"`
	FromLine       int    `json:"from_line"`
	ToLine         int    `json:"to_line"`
	ReadRevision   uint64 `json:"read_revision"`
	EgressRevision uint64 `json:"egress_revision"`
}

// Limits narrow the ceilings; 0 keeps them.
type Limits struct {
	DeadlineSeconds int `json:"deadline_seconds"`
	OutputTokens    int `json:"output_tokens"`
}

// Canonical is the input's canonical JSON.
func (in Input) Canonical() ([]byte, error) { return canon.Marshal(in) }

// Validate checks the input's shape against the policy and names the first offending field.
func (in Input) Validate(c policies.Research, money policies.Ledger) error {
	if err := text("research.question", in.Question, c.QuestionBytes); err != nil {
		return err
	}
	if n := len(in.Slots); n < 1 || n > c.Slots {
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "research.slots", "%d perspectives, 1 to %d are allowed", n, c.Slots)
	}
	distinct := make(map[string]bool)
	for i, slot := range in.Slots {
		if err := slot.validate(fmt.Sprintf("research.slots[%d]", i), c); err != nil {
			return err
		}
		for _, use := range slot.Sources {
			distinct[use.SourceID] = true
		}
	}
	if len(distinct) > c.Sources {
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "research.slots", "%d distinct sources, at most %d are allowed", len(distinct), c.Sources)
	}
	if in.Allowance < 0 || in.Allowance > money.OperationAllowance {
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "research.allowance", "%d micro-USD, 0 to %d are allowed", in.Allowance, money.OperationAllowance)
	}
	return in.Limits.validate(c, len(in.Slots))
}

func (s Slot) validate(field string, c policies.Research) error {
	if err := text(field+".perspective", s.Perspective, c.PerspectiveBytes); err != nil {
		return err
	}
	if n := len(s.Sources); n < 1 || n > c.SourcesPerChild {
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, field+".sources", "%d sources, 1 to %d are allowed", n, c.SourcesPerChild)
	}
	seen := make(map[string]bool)
	for i, use := range s.Sources {
		at := fmt.Sprintf("%s.sources[%d]", field, i)
		switch {
		case use.SourceID == "":
			return reason.Field(writv1.Reason_REASON_MISSING_FIELD, at+".source_id", "empty")
		case seen[use.SourceID]:
			return reason.Field(writv1.Reason_REASON_INVALID_INPUT, at+".source_id", "named twice in one slot")
		case !canon.IsDigest(use.SHA256):
			return reason.Field(writv1.Reason_REASON_INVALID_INPUT, at+".sha256", "not a lower-case hex SHA-256")
		case use.FromLine == 0 && use.ToLine == 0:
			return reason.Field(writv1.Reason_REASON_MISSING_FIELD, at+".from_line", "a line range must be approved")
		case use.FromLine < 1:
			return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, at+".from_line", "lines count from 1")
		case use.ToLine < use.FromLine:
			return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, at+".to_line", "line %d comes before line %d", use.ToLine, use.FromLine)
		}
		seen[use.SourceID] = true
	}
	return nil
}

func (l Limits) validate(c policies.Research, slots int) error {
	if l.DeadlineSeconds < 0 || l.DeadlineSeconds > c.ParentDeadlineSeconds {
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "research.limits.deadline_seconds", "%d, at most %d are allowed", l.DeadlineSeconds, c.ParentDeadlineSeconds)
	}
	if l.DeadlineSeconds != 0 && l.DeadlineSeconds <= c.AssemblyReserveSeconds {
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "research.limits.deadline_seconds", "%d, more than the %d kept for assembly are needed", l.DeadlineSeconds, c.AssemblyReserveSeconds)
	}
	if l.OutputTokens < 0 || l.OutputTokens > c.OutputTokens || l.OutputTokens*slots > c.OutputTokensTotal {
		return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, "research.limits.output_tokens", "%d, at most %d each and %d in all are allowed", l.OutputTokens, c.OutputTokens, c.OutputTokensTotal)
	}
	return nil
}

// text checks one piece of the caller's prose.
func text(field, s string, limit int) error {
	switch {
	case !utf8.ValidString(s):
		return reason.Field(writv1.Reason_REASON_INVALID_UTF8, field, "not valid UTF-8")
	case strings.TrimSpace(s) == "":
		return reason.Field(writv1.Reason_REASON_MISSING_FIELD, field, "empty")
	case len(s) > limit:
		return reason.Field(writv1.Reason_REASON_TOO_LARGE, field, "%d bytes, at most %d are allowed", len(s), limit)
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }):
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, field, "holds a control character")
	}
	return nil
}
