package research

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/kernel/grant"
	"github.com/writ-kernel/writ/kernel/ledger"
	"github.com/writ-kernel/writ/kernel/operation"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/policies"
)

// Request is one admission as the host resolved it.
type Request struct {
	Owner     string
	Key       string
	Input     Input
	Governing policies.Governing
	Pins      Pins
}

// Admit records a research dossier, or finds the one already admitted under the same key and input.
// The second result reports a duplicate.
func Admit(tx store.Tx, req Request) (*storev1.Operation, bool, error) {
	admission, duplicate, err := resolve(tx, req, tx.Now())
	if err != nil || duplicate != nil {
		return duplicate, duplicate != nil, err
	}
	op, err := operation.Admit(tx, *admission)
	return op, false, err
}

// Check does everything that Admit does except record it.
func Check(r store.Reader, req Request, now int64) error {
	_, _, err := resolve(r, req, now)
	return err
}

func resolve(r store.Reader, req Request, now int64) (*operation.Admission, *storev1.Operation, error) {
	input, err := req.Input.Canonical()
	if err != nil {
		return nil, nil, err
	}
	if op, err := Duplicate(r, req.Owner, req.Key, req.Input); err != nil || op != nil {
		return nil, op, err
	}
	ceilings := req.Governing.Research
	if err := req.Input.Validate(ceilings, req.Governing.Ledger); err != nil {
		return nil, nil, err
	}
	root, err := grant.Root(r, req.Owner)
	if err != nil {
		return nil, nil, err
	}
	goal, err := grant.Goal(r, req.Owner, req.Input.Goal, req.Input.GoalRevision)
	if err != nil {
		return nil, nil, err
	}
	admitted := Admitted{
		Question: req.Input.Question, Governing: req.Governing, Pins: req.Pins,
		OutputTokens: narrow(req.Input.Limits.OutputTokens, min(ceilings.OutputTokens, ceilings.OutputTokensTotal/len(req.Input.Slots))),
		ChildSeconds: ceilings.ChildDeadlineSeconds, NoLearning: true,
	}
	var uses []SourceUse
	for i, slot := range req.Input.Slots {
		if err := resolveSources(r, req.Owner, i, slot, &admitted); err != nil {
			return nil, nil, err
		}
		uses = append(uses, slot.Sources...)
	}
	if err := divide(&admitted, req.Input); err != nil {
		return nil, nil, err
	}
	if err := checkSizes(admitted, ceilings); err != nil {
		return nil, nil, err
	}
	if err := checkGoal(r, goal, admitted, now); err != nil {
		return nil, nil, err
	}
	seconds := narrow(req.Input.Limits.DeadlineSeconds, ceilings.ParentDeadlineSeconds)
	deadline := now + (time.Duration(seconds) * time.Second).Microseconds()
	if goal.ExpiresUs != 0 {
		deadline = min(deadline, goal.ExpiresUs)
	}
	return &operation.Admission{
		Owner: req.Owner, Capability: Capability, Key: req.Key, Input: input, Admitted: admitted,
		PolicyRevision: req.Governing.Revision(), Root: root, Goal: goal, Allowance: req.Input.Allowance,
		DeadlineUS: deadline, ParentKind: ParentKind, FirstPhase: PhaseCreate, Sources: bindings(uses),
	}, nil, nil
}

// Duplicate finds the operation that was admitted under a key with exactly this input. It needs no policy
// and no plugin, because what was admitted stays admitted whatever has changed since.
func Duplicate(r store.Reader, owner, key string, in Input) (*storev1.Operation, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	input, err := in.Canonical()
	if err != nil {
		return nil, err
	}
	return operation.Duplicate(r, owner, Capability, key, input)
}

// checkGoal refuses an operation that its goal could not carry to the end.
func checkGoal(r store.Reader, goal *storev1.Goal, admitted Admitted, now int64) error {
	if goal.ExpiresUs != 0 && goal.ExpiresUs <= now {
		return reason.Field(writv1.Reason_REASON_GOAL_CHANGED, "research.goal", "goal %s has expired", goal.Id)
	}
	left, err := ledger.GoalLeft(r, goal)
	if err != nil {
		return err
	}
	for _, slot := range admitted.Slots {
		left -= slot.Subset
	}
	if left < 0 {
		return reason.Field(writv1.Reason_REASON_BUDGET_EXCEEDED, "research.goal", "goal %s lacks %d micro-USD for the calls of this operation", goal.Id, -left)
	}
	return nil
}

// narrow takes the caller's limit where there is one; it was checked against the ceiling.
func narrow(limit, ceiling int) int {
	if limit == 0 {
		return ceiling
	}
	return limit
}

// CheckKey checks an idempotency key.
func CheckKey(key string) error {
	const field = "idempotency_key"
	switch {
	case key == "":
		return reason.Field(writv1.Reason_REASON_MISSING_FIELD, field, "empty")
	case len(key) > operation.KeyBytes:
		return reason.Field(writv1.Reason_REASON_TOO_LARGE, field, "%d bytes, at most %d are allowed", len(key), operation.KeyBytes)
	case !utf8.ValidString(key):
		return reason.Field(writv1.Reason_REASON_INVALID_UTF8, field, "not valid UTF-8")
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, field, "holds a control character")
	}
	return nil
}

// resolveSources binds a slot's uses to sources of this owner, at the revisions that the caller expects.
func resolveSources(r store.Reader, owner string, slot int, s Slot, admitted *Admitted) error {
	for i, use := range s.Sources {
		at := fmt.Sprintf("research.slots[%d].sources[%d]", slot, i)
		source, err := grant.Source(r, owner, use.SourceID)
		if err != nil {
			if typed, ok := reason.As(err); ok {
				typed.Field = at + ".source_id"
			}
			return err
		}
		switch {
		case source.Sha256 != use.SHA256:
			return reason.Field(writv1.Reason_REASON_REVISION_MISMATCH, at+".sha256", "source %s has other bytes", source.Id)
		case use.ToLine > int(source.Lines):
			return reason.Field(writv1.Reason_REASON_OUT_OF_RANGE, at+".to_line", "line %d of %d", use.ToLine, source.Lines)
		case !expected(use.ReadRevision, source.Read):
			return reason.Field(writv1.Reason_REASON_REVISION_MISMATCH, at+".read_revision", "the read grant is at revision %d, granted: %t", source.Read.Revision, source.Read.Granted)
		case !expected(use.EgressRevision, source.Egress):
			return reason.Field(writv1.Reason_REASON_REVISION_MISMATCH, at+".egress_revision", "the egress consent is at revision %d, granted: %t", source.Egress.Revision, source.Egress.Granted)
		}
		if admitted.Source(source.Id).ID == "" {
			admitted.Sources = append(admitted.Sources, AdmittedSource{
				ID: source.Id, Name: source.Name, SHA256: source.Sha256, Size: int64(source.Size), Lines: int(source.Lines),
				Normalizer: source.Normalizer, TextSHA256: source.TextSha256, MapSHA256: source.MapSha256,
			})
		}
	}
	return nil
}

func expected(revision uint64, g *storev1.Grant) bool {
	return revision == 0 || g.Granted && g.Revision == revision
}

// divide fixes each slot's part b_i of the allowance: the trusted bound of the largest call that the
// slot may make. What a caller estimates plays no role.
func divide(admitted *Admitted, in Input) error {
	bound, err := admitted.Governing.Route.Bound(admitted.Governing.Research.PromptBytes, admitted.OutputTokens)
	if err != nil {
		return err
	}
	left := in.Allowance
	for i, slot := range in.Slots {
		if bound > left {
			return reason.Field(writv1.Reason_REASON_BUDGET_EXCEEDED, "research.allowance",
				"%d micro-USD cannot hold %d calls of at most %d each on route %s", in.Allowance, len(in.Slots), bound, admitted.Governing.RouteName).
				WithNext("raise the allowance to at least %d micro-USD", bound*int64(len(in.Slots)))
		}
		left -= bound
		admitted.Slots = append(admitted.Slots, AdmittedSlot{Slot: i + 1, Perspective: slot.Perspective, Sources: slot.Sources, Subset: bound})
	}
	return nil
}

func checkSizes(admitted Admitted, c policies.Research) error {
	var total int64
	for _, s := range admitted.Sources {
		total += s.Size
		if s.Size > int64(c.SourceBytes) {
			return reason.Field(writv1.Reason_REASON_TOO_LARGE, "research.slots", "source %s has %d bytes, at most %d are allowed", s.Name, s.Size, c.SourceBytes)
		}
	}
	if total > int64(c.SourcesBytes) {
		return reason.Field(writv1.Reason_REASON_TOO_LARGE, "research.slots", "%d bytes of sources, at most %d are allowed", total, c.SourcesBytes)
	}
	return nil
}
