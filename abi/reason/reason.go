package reason

import (
	"errors"
	"fmt"
	"strings"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
)

// Code is one typed reason.
type Code = writv1.Reason

// Name is the stable lower-case name of a code, for example stale_fence.
func Name(c Code) string {
	if c == writv1.Reason_REASON_UNSPECIFIED {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(c.String(), "REASON_"))
}

// Parse is the code with a stable name, or REASON_UNSPECIFIED.
func Parse(name string) Code {
	return Code(writv1.Reason_value["REASON_"+strings.ToUpper(name)])
}

// Error is a typed refusal. Detail never holds source text or a secret.
type Error struct {
	Code      Code
	Field     string // request field path, when one is to blame
	Operation string
	Detail    string
	Retryable bool
	Next      string // one sentence that says what to do
	Err       error
}

// New makes a typed refusal.
func New(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Detail: err.Error(), Err: errors.Unwrap(err)}
}

// Field makes a typed refusal of one request field.
func Field(code Code, field, format string, args ...any) *Error {
	e := New(code, format, args...)
	e.Field = field
	return e
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(Name(e.Code))
	if e.Field != "" {
		b.WriteString(": " + e.Field)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// WithNext adds what to do next.
func (e *Error) WithNext(format string, args ...any) *Error {
	e.Next = fmt.Sprintf(format, args...)
	return e
}

// As finds the typed refusal in err's chain.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// CodeOf is the code in err's chain, or REASON_UNSPECIFIED.
func CodeOf(err error) Code {
	if e, ok := As(err); ok {
		return e.Code
	}
	return writv1.Reason_REASON_UNSPECIFIED
}

// Is reports whether err carries the code.
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }
