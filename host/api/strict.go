package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// unmarshalJSON decodes proto3 JSON and refuses what protojson alone would refuse without a field
// path: unknown members, a field named twice (also once by each of its two names), invalid UTF-8
// and wrong types.
//
// The structure is walked beside the descriptor first. Scalars are left to protojson, whose rules
// for numbers, enums and base64 are not repeated here; only when it refuses are they tried one by
// one, to find out which is to blame.
func unmarshalJSON(data []byte, m proto.Message) error {
	descriptor := m.ProtoReflect().Descriptor()
	if err := (&jsonWalk{}).run(data, descriptor); err != nil {
		return err
	}
	err := protojson.Unmarshal(data, m)
	if err == nil {
		return nil
	}
	if located := (&jsonWalk{probe: true}).run(data, descriptor); located != nil {
		return located
	}
	return &reason.Error{Code: writv1.Reason_REASON_INVALID_INPUT, Detail: "not a valid request", Err: err}
}

type jsonWalk struct {
	dec *jsontext.Decoder
	// probe also decodes each scalar by itself.
	probe bool
}

func (w *jsonWalk) run(data []byte, descriptor protoreflect.MessageDescriptor) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return invalid("", "the request body is empty; send a JSON object, {} at least")
	}
	// Duplicate names are found here by field, not by spelling.
	w.dec = jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	if err := w.message(descriptor, ""); err != nil {
		return err
	}
	if _, err := w.dec.ReadToken(); err == nil {
		return invalid("", "data follows the JSON object")
	} else if !errors.Is(err, io.EOF) {
		return syntax("", err)
	}
	return nil
}

func (w *jsonWalk) message(descriptor protoreflect.MessageDescriptor, path string) error {
	if err := w.open('{', path, "an object"); err != nil {
		return err
	}
	seen := map[protoreflect.FieldNumber]bool{}
	chosen := map[protoreflect.Name]protoreflect.Name{}
	for w.dec.PeekKind() != '}' {
		token, err := w.dec.ReadToken()
		if err != nil {
			return syntax(path, err)
		}
		if token.Kind() != '"' {
			return invalid(path, "must be an object with named members")
		}
		name := token.String()
		field := fieldByJSONName(descriptor, name)
		if field == nil {
			return reason.Field(writv1.Reason_REASON_UNKNOWN_FIELD, join(path, shown(name)), "there is no such field")
		}
		at := join(path, string(field.Name()))
		if seen[field.Number()] {
			return reason.Field(writv1.Reason_REASON_DUPLICATE_FIELD, at, "is given twice")
		}
		seen[field.Number()] = true
		if w.dec.PeekKind() == 'n' { // null leaves a field unset
			if _, err := w.dec.ReadToken(); err != nil {
				return syntax(at, err)
			}
			continue
		}
		if group := field.ContainingOneof(); group != nil && !group.IsSynthetic() {
			if other, taken := chosen[group.Name()]; taken {
				return invalid(at, "cannot stand beside %s", other)
			}
			chosen[group.Name()] = field.Name()
		}
		if err := w.field(field, at); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return syntaxOrNil(path, err)
}

func (w *jsonWalk) field(field protoreflect.FieldDescriptor, path string) error {
	switch {
	case field.IsMap():
		return w.value(field, path)
	case !field.IsList():
		return w.single(field, path)
	}
	if err := w.open('[', path, "an array"); err != nil {
		return err
	}
	for i := 0; w.dec.PeekKind() != ']'; i++ {
		if err := w.single(field, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return syntaxOrNil(path, err)
}

func (w *jsonWalk) single(field protoreflect.FieldDescriptor, path string) error {
	if field.Message() != nil && !hasOwnJSON(field.Message()) {
		return w.message(field.Message(), path)
	}
	return w.value(field, path)
}

// value reads one value whole. Inside it names must be unique, whatever it is.
func (w *jsonWalk) value(field protoreflect.FieldDescriptor, path string) error {
	value, err := w.dec.ReadValue()
	if err != nil {
		return syntax(path, err)
	}
	if kind := value.Kind(); (kind == '{' || kind == '[') && !value.IsValid() {
		return reason.Field(writv1.Reason_REASON_DUPLICATE_FIELD, path, "holds a member twice")
	}
	if !w.probe {
		return nil
	}
	text := string(value)
	if field.IsList() {
		text = "[" + text + "]"
	}
	alone := dynamicpb.NewMessage(field.ContainingMessage())
	if err := protojson.Unmarshal([]byte(`{"`+field.JSONName()+`":`+text+`}`), alone); err != nil {
		refusal := invalid(path, "must be %s", kindWords(field))
		refusal.Err = err
		return refusal
	}
	return nil
}

func (w *jsonWalk) open(kind jsontext.Kind, path, want string) error {
	token, err := w.dec.ReadToken()
	if err != nil {
		return syntax(path, err)
	}
	if token.Kind() != kind {
		return invalid(path, "must be %s", want)
	}
	return nil
}

// fieldByJSONName accepts the lowerCamelCase and the schema's own name, as protojson does.
func fieldByJSONName(descriptor protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if field := descriptor.Fields().ByJSONName(name); field != nil {
		return field
	}
	return descriptor.Fields().ByTextName(name)
}

// hasOwnJSON reports a well-known type, whose JSON form is not an object of its fields.
func hasOwnJSON(descriptor protoreflect.MessageDescriptor) bool {
	return descriptor.ParentFile().Package() == "google.protobuf"
}

func kindWords(field protoreflect.FieldDescriptor) string {
	switch field.Kind() {
	case protoreflect.StringKind:
		return "a string"
	case protoreflect.BytesKind:
		return "a base64 string"
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.EnumKind:
		return "a name of " + string(field.Enum().FullName())
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return "a number"
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return "a whole number from 0 to 4294967295"
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return "a whole number from 0 to 18446744073709551615"
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return "a " + string(field.Message().FullName())
	default:
		return "a whole number of " + field.Kind().String()
	}
}

func syntaxOrNil(path string, err error) error {
	if err == nil {
		return nil
	}
	return syntax(path, err)
}

// syntax types what the tokenizer refused while it stood at path.
func syntax(path string, err error) error {
	code, detail := writv1.Reason_REASON_INVALID_INPUT, "is not valid JSON"
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		detail = "the JSON text ends too early"
	case errors.As(err, &syntactic) && strings.Contains(syntactic.Err.Error(), "UTF-8"):
		code, detail = writv1.Reason_REASON_INVALID_UTF8, "holds a byte that is not UTF-8"
	case errors.As(err, &syntactic) && strings.Contains(syntactic.Err.Error(), "surrogate"):
		code, detail = writv1.Reason_REASON_INVALID_UTF8, "holds half of a surrogate pair"
	}
	return &reason.Error{Code: code, Field: path, Detail: detail, Err: err}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

const maxShownName = 64

// shown makes a caller's own member name harmless to print.
func shown(name string) string {
	if len(name) > maxShownName {
		name = strings.ToValidUTF8(name[:maxShownName], "") + "…"
	}
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return strconv.QuoteToASCII(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}
