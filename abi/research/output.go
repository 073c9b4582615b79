package research

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
)

// Bounds of a model's answer, in bytes where they are not counts.
const (
	MaxOutputBytes      = 16 << 10
	MaxClaims           = 8
	MaxContradictions   = 8
	MaxCitations        = 2
	MaxPerspectiveBytes = 1 << 10
	MaxClaimBytes       = 1 << 10
	MaxQuoteBytes       = 4 << 10
	MaxUncertaintyBytes = 4 << 10
	MaxPassageIDBytes   = 16
)

// ChildOutput is what one child's model said. Every member must be present; Contradictions are
// those the model itself declares.
type ChildOutput struct {
	Perspective    string  `json:"perspective"`
	Claims         []Claim `json:"claims"`
	Uncertainty    string  `json:"uncertainty"`
	Contradictions []Claim `json:"contradictions"`
}

// Claim is attributed synthesis with zero to two citations.
type Claim struct {
	Text      string     `json:"text"`
	Citations []Citation `json:"citations"`
}

// Citation names a passage of the task and quotes it. Nothing here says that the quote is there.
type Citation struct {
	Passage string `json:"passage"`
	Quote   string `json:"quote"`
}

// MarshalChildOutput writes an answer as canonical JSON, after the very checks a reader makes.
func MarshalChildOutput(out ChildOutput) ([]byte, error) {
	if err := out.check(); err != nil {
		return nil, err
	}
	raw, err := canon.Marshal(out)
	if err != nil {
		field, what := explain(err)
		return nil, invalid(field, "%s", what)
	}
	if len(raw) > MaxOutputBytes {
		return nil, tooLarge("", "%d bytes, at most %d are allowed", len(raw), MaxOutputBytes)
	}
	return raw, nil
}

// ParseChildOutput decodes an answer strictly. Refusals carry output_invalid or output_too_large
// and the field; they never repeat what the model wrote.
func ParseChildOutput(raw []byte) (ChildOutput, error) {
	if len(raw) > MaxOutputBytes {
		return ChildOutput{}, tooLarge("", "%d bytes, at most %d are allowed", len(raw), MaxOutputBytes)
	}
	// Pointers tell an absent or null string from an empty one; a nil slice does the same for lists.
	var wire struct {
		Perspective    *string `json:"perspective"`
		Claims         []Claim `json:"claims"`
		Uncertainty    *string `json:"uncertainty"`
		Contradictions []Claim `json:"contradictions"`
	}
	if err := canon.Unmarshal(raw, &wire); err != nil {
		field, what := explain(err)
		return ChildOutput{}, invalid(field, "%s", what)
	}
	if wire.Perspective == nil {
		return ChildOutput{}, invalid("perspective", "missing")
	}
	if wire.Uncertainty == nil {
		return ChildOutput{}, invalid("uncertainty", "missing")
	}
	out := ChildOutput{
		Perspective:    *wire.Perspective,
		Claims:         wire.Claims,
		Uncertainty:    *wire.Uncertainty,
		Contradictions: wire.Contradictions,
	}
	if err := out.check(); err != nil {
		return ChildOutput{}, err
	}
	return out, nil
}

func (o ChildOutput) check() error {
	if err := checkText("perspective", o.Perspective, MaxPerspectiveBytes, false); err != nil {
		return err
	}
	if err := checkText("uncertainty", o.Uncertainty, MaxUncertaintyBytes, true); err != nil {
		return err
	}
	if err := checkClaims("claims", o.Claims, MaxClaims); err != nil {
		return err
	}
	return checkClaims("contradictions", o.Contradictions, MaxContradictions)
}

func checkClaims(field string, claims []Claim, most int) error {
	if claims == nil {
		return invalid(field, "missing")
	}
	if len(claims) > most {
		return tooLarge(field, "%d items, at most %d are allowed", len(claims), most)
	}
	for i, claim := range claims {
		at := fmt.Sprintf("%s[%d]", field, i)
		if err := checkText(at+".text", claim.Text, MaxClaimBytes, false); err != nil {
			return err
		}
		if claim.Citations == nil {
			return invalid(at+".citations", "missing")
		}
		if len(claim.Citations) > MaxCitations {
			return tooLarge(at+".citations", "%d items, at most %d are allowed", len(claim.Citations), MaxCitations)
		}
		for j, citation := range claim.Citations {
			if err := citation.check(fmt.Sprintf("%s.citations[%d]", at, j)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c Citation) check(at string) error {
	if !isPassageID(c.Passage) {
		return invalid(at+".passage", "not a passage ID")
	}
	if c.Quote == "" {
		return invalid(at+".quote", "empty")
	}
	if len(c.Quote) > MaxQuoteBytes {
		return tooLarge(at+".quote", "%d bytes, at most %d are allowed", len(c.Quote), MaxQuoteBytes)
	}
	return nil
}

// isPassageID keeps everything but p and digits out, so that no path or address can pose as an ID.
func isPassageID(id string) bool {
	digits, ok := strings.CutPrefix(id, "p")
	return ok && digits != "" && len(id) <= MaxPassageIDBytes && strings.Trim(digits, "0123456789") == ""
}

func checkText(field, text string, most int, mayBeEmpty bool) error {
	if len(text) > most {
		return tooLarge(field, "%d bytes, at most %d are allowed", len(text), most)
	}
	if !mayBeEmpty && strings.TrimSpace(text) == "" {
		return invalid(field, "empty")
	}
	// These words are shown to people; a control character could repaint their terminal. Quotes
	// are free of this rule, because they are compared with the source and never shown unverified
	// without escaping.
	if strings.ContainsFunc(text, isUnprintable) {
		return invalid(field, "control character")
	}
	return nil
}

func isUnprintable(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

func invalid(field, format string, args ...any) error {
	return reason.Field(writv1.Reason_REASON_OUTPUT_INVALID, field, format, args...)
}

func tooLarge(field, format string, args ...any) error {
	return reason.Field(writv1.Reason_REASON_OUTPUT_TOO_LARGE, field, format, args...)
}

const maxFieldBytes = 128

// explain words a decoding error without repeating any value, and bounds the field path, whose
// last part may be a member name of the model's own making.
func explain(err error) (field, what string) {
	var at *canon.FieldError
	if !errors.As(err, &at) {
		return "", "not JSON of the schema"
	}
	field = strings.ToValidUTF8(at.Field, "�")
	field = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, field)
	if len(field) > maxFieldBytes {
		field = strings.ToValidUTF8(field[:maxFieldBytes], "") + "…"
	}
	switch {
	case at.Unknown:
		return field, "unknown field"
	case at.Duplicate:
		return field, "duplicate field"
	case at.UTF8:
		return field, "invalid UTF-8"
	}
	return field, "malformed or of the wrong type"
}
