package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxInteger is the largest integer magnitude that canonical JSON carries exactly (RFC 8785 §3.2.2.3).
const MaxInteger = 1<<53 - 1

// Digest returns the lower-case hex SHA-256 of b.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// IsDigest reports whether s is a lower-case hex SHA-256.
func IsDigest(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Marshal encodes v as canonical JSON.
func Marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fieldError(err)
	}
	return Canonicalize(raw)
}

// Canonicalize checks raw strictly and rewrites it to canonical form.
func Canonicalize(raw []byte) ([]byte, error) {
	if err := checkIntegers(raw); err != nil {
		return nil, err
	}
	value := jsontext.Value(bytes.Clone(raw))
	if err := value.Canonicalize(); err != nil {
		return nil, fieldError(err)
	}
	return value, nil
}

// Unmarshal decodes exactly one JSON value into v, refusing unknown and duplicate members, invalid
// UTF-8 and trailing data.
func Unmarshal(data []byte, v any) error {
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true)); err != nil {
		return fieldError(err)
	}
	return nil
}

// FieldError is a decoding error at a JSON path such as slots[0].question.
type FieldError struct {
	Field     string
	Unknown   bool // the member is not part of the schema
	Duplicate bool // the member occurs twice
	UTF8      bool // a string holds an invalid byte
	Err       error
}

func (e *FieldError) Error() string {
	switch {
	case e.Unknown:
		return fmt.Sprintf("%s: unknown field", e.Field)
	case e.Duplicate:
		return fmt.Sprintf("%s: duplicate field", e.Field)
	case e.UTF8:
		return fmt.Sprintf("%s: invalid UTF-8", e.Field)
	case e.Field == "":
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %v", e.Field, e.Err)
}

func (e *FieldError) Unwrap() error { return e.Err }

func fieldError(err error) error {
	out := &FieldError{Err: err}
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		out.Field = FieldPath(semantic.JSONPointer)
		out.Unknown = errors.Is(err, json.ErrUnknownName)
	case errors.As(err, &syntactic):
		out.Field = FieldPath(syntactic.JSONPointer)
		out.Duplicate = errors.Is(err, jsontext.ErrDuplicateName)
		out.UTF8 = strings.Contains(err.Error(), "invalid UTF-8")
	}
	return out
}

// FieldPath turns a JSON pointer into the dotted form used in messages: /slots/0/question becomes
// slots[0].question.
func FieldPath(pointer jsontext.Pointer) string {
	var b strings.Builder
	for token := range pointer.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			fmt.Fprintf(&b, "[%s]", token)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}

// checkIntegers refuses integer literals that a double cannot hold exactly.
func checkIntegers(raw []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		tok, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fieldError(err)
		}
		if tok.Kind() != '0' {
			continue
		}
		literal := tok.String()
		if strings.ContainsAny(literal, ".eE") {
			continue
		}
		n, err := strconv.ParseInt(literal, 10, 64)
		if err != nil || n > MaxInteger || n < -MaxInteger {
			return &FieldError{Field: FieldPath(dec.StackPointer()), Err: fmt.Errorf("integer %s is outside ±(2^53-1)", literal)}
		}
	}
}
