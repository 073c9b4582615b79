package api

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// unmarshalWire decodes the protobuf wire format as strictly as unmarshalJSON decodes JSON. The
// wire is walked first because proto.Unmarshal keeps unknown fields, merges repeated singular ones
// and names no path.
func unmarshalWire(data []byte, m proto.Message) error {
	if err := checkWire(data, m.ProtoReflect().Descriptor(), ""); err != nil {
		return err
	}
	if err := proto.Unmarshal(data, m); err != nil {
		return &reason.Error{Code: writv1.Reason_REASON_INVALID_INPUT, Detail: "not a valid request", Err: err}
	}
	return nil
}

// checkWire descends by the schema; no message of this API contains itself, so depth is bounded.
func checkWire(data []byte, descriptor protoreflect.MessageDescriptor, path string) error {
	count := map[protoreflect.FieldNumber]int{}
	for len(data) > 0 {
		number, wire, n := protowire.ConsumeTag(data)
		if n < 0 {
			return invalid(path, "is not a protobuf message")
		}
		data = data[n:]
		field := descriptor.Fields().ByNumber(number)
		if field == nil {
			return reason.Field(writv1.Reason_REASON_UNKNOWN_FIELD, join(path, fmt.Sprintf("#%d", number)), "there is no such field")
		}
		at := join(path, string(field.Name()))
		size := protowire.ConsumeFieldValue(number, wire, data)
		if size < 0 {
			return invalid(at, "is cut short or malformed")
		}
		value := data[:size]
		data = data[size:]

		seen := count[number]
		count[number]++
		repeated := field.Cardinality() == protoreflect.Repeated // lists and maps
		switch {
		case repeated:
			at = fmt.Sprintf("%s[%d]", at, seen)
		case seen > 0:
			return reason.Field(writv1.Reason_REASON_DUPLICATE_FIELD, at, "is given twice")
		}
		packed := repeated && wire == protowire.BytesType && wireType(field.Kind()) != protowire.BytesType
		if wire != wireType(field.Kind()) && !packed {
			return invalid(at, "has the wrong wire type")
		}
		if wire != protowire.BytesType || packed {
			continue
		}
		content, _ := protowire.ConsumeBytes(value)
		switch field.Kind() {
		case protoreflect.StringKind:
			if !utf8.Valid(content) {
				return reason.Field(writv1.Reason_REASON_INVALID_UTF8, at, "holds a byte that is not UTF-8")
			}
		case protoreflect.MessageKind:
			if err := checkWire(content, field.Message(), at); err != nil {
				return err
			}
		}
	}
	return nil
}

func wireType(kind protoreflect.Kind) protowire.Type {
	switch kind {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	default:
		return protowire.VarintType
	}
}
