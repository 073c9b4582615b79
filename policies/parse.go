package policies

import (
	"errors"
	"unicode/utf8"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
)

// MaxFileBytes is the largest policy file.
const MaxFileBytes = 64 << 10

// Parse reads one policy file over Default. What the file does not mention keeps its default; an
// empty file is the default policy. Every refusal is a *reason.Error: TOO_LARGE, INVALID_UTF8,
// INVALID_INPUT, UNKNOWN_FIELD, DUPLICATE_FIELD, MISSING_FIELD, OUT_OF_RANGE or NOT_FOUND, with the
// field's path wherever one field is to blame.
func Parse(file []byte) (*Policy, error) {
	if len(file) > MaxFileBytes {
		return nil, reason.New(writv1.Reason_REASON_TOO_LARGE, "the policy file has %d bytes, more than %d", len(file), MaxFileBytes)
	}
	if !utf8.Valid(file) {
		return nil, reason.New(writv1.Reason_REASON_INVALID_UTF8, "the policy file is not UTF-8")
	}
	raw, err := yamlToJSON(file)
	if err != nil {
		return nil, err
	}
	p := Default()
	p.Routes = nil // a file's routes are complete by themselves and merge with nothing
	if err := canon.Unmarshal(raw, p); err != nil {
		return nil, decodeError(err)
	}
	if err := p.addBuiltinRoutes(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Policy) addBuiltinRoutes() error {
	if p.Routes == nil {
		p.Routes = map[string]Route{}
	}
	for name, route := range builtinRoutes() {
		if _, taken := p.Routes[name]; taken {
			return reason.Field(writv1.Reason_REASON_CONFLICT, "routes."+name, "this route is built in and cannot be redefined").
				WithNext("Give the route another name and set default_route to it.")
		}
		p.Routes[name] = route
	}
	return nil
}

func decodeError(err error) error {
	var f *canon.FieldError
	if !errors.As(err, &f) {
		return reason.New(writv1.Reason_REASON_INVALID_INPUT, "policy file: %w", err)
	}
	if f.Unknown {
		return reason.Field(writv1.Reason_REASON_UNKNOWN_FIELD, f.Field, "no such setting")
	}
	return reason.Field(writv1.Reason_REASON_INVALID_INPUT, f.Field, "wrong kind of value: %w", f.Err)
}
