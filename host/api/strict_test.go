package api

import (
	"encoding/base64"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

func TestJSONRefusalNamesFieldAndReason(t *testing.T) {
	const (
		unknown   = writv1.Reason_REASON_UNKNOWN_FIELD
		duplicate = writv1.Reason_REASON_DUPLICATE_FIELD
		utf8      = writv1.Reason_REASON_INVALID_UTF8
		invalid   = writv1.Reason_REASON_INVALID_INPUT
	)
	for name, c := range map[string]struct {
		body  string
		code  reason.Code
		field string
	}{
		"unknown at the top":             {`{"nope":1}`, unknown, "nope"},
		"unknown deep inside":            {`{"research":{"slots":[{"sources":[{},{"lines":3}]}]}}`, unknown, "research.slots[0].sources[1].lines"},
		"unknown beside null":            {`{"research":null,"x":null}`, unknown, "x"},
		"extension syntax":               {`{"[writ.v1.x]":1}`, unknown, `"[writ.v1.x]"`},
		"unknown name that plays tricks": {"{\"a\\u202eb\":1}", unknown, `"a\u202eb"`},
		"empty name":                     {`{"":1}`, unknown, `""`},
		"other case":                     {`{"Research":{}}`, unknown, "Research"},
		"duplicate":                      {`{"research":{"question":"a","question":"b"}}`, duplicate, "research.question"},
		"duplicate under both names":     {`{"idempotencyKey":"a","idempotency_key":"a"}`, duplicate, "idempotency_key"},
		"duplicate with an escape":       {`{"research":{"question":"a","\u0071uestion":"b"}}`, duplicate, "research.question"},
		"duplicate with null":            {`{"idempotencyKey":null,"idempotencyKey":"a"}`, duplicate, "idempotency_key"},
		"duplicate deep inside":          {`{"research":{"slots":[{},{"sources":[{"from_line":1,"fromLine":2}]}]}}`, duplicate, "research.slots[1].sources[0].from_line"},
		"bad byte in a value":            {"{\"research\":{\"question\":\"a\xff\"}}", utf8, "research.question"},
		"bad byte in a list":             {"{\"research\":{\"slots\":[{},{\"perspective\":\"\xc0\xaf\"}]}}", utf8, "research.slots[1].perspective"},
		"bad byte in a name":             {"{\"research\":{\"\xff\":1}}", utf8, "research"},
		"half a surrogate pair":          {`{"research":{"question":"\ud800"}}`, utf8, "research.question"},
		"string for a number":            {`{"research":{"slots":[{"sources":[{"from_line":"x"}]}]}}`, invalid, "research.slots[0].sources[0].from_line"},
		"number for a string":            {`{"research":{"question":7}}`, invalid, "research.question"},
		"negative for unsigned":          {`{"research":{"slots":[{"sources":[{"toLine":-1}]}]}}`, invalid, "research.slots[0].sources[0].to_line"},
		"beyond 32 bits":                 {`{"research":{"slots":[{"sources":[{"toLine":4294967296}]}]}}`, invalid, "research.slots[0].sources[0].to_line"},
		"beyond 64 bits":                 {`{"research":{"allowance":9223372036854775808}}`, invalid, "research.allowance"},
		"fraction for a whole number":    {`{"research":{"allowance":1.5}}`, invalid, "research.allowance"},
		"string for a flag":              {`{"validateOnly":"true"}`, invalid, "validate_only"},
		"object for an array":            {`{"research":{"slots":{}}}`, invalid, "research.slots"},
		"array for an object":            {`{"research":[]}`, invalid, "research"},
		"string for an object":           {`{"research":{"slots":["a"]}}`, invalid, "research.slots[0]"},
		"null in an array":               {`{"research":{"slots":[null]}}`, invalid, "research.slots[0]"},
		"array at the top":               {`[]`, invalid, ""},
		"null at the top":                {`null`, invalid, ""},
		"nothing":                        {` `, invalid, ""},
		"cut short":                      {`{"research":{"question":"a"`, invalid, "research"},
		"not JSON":                       {`{"research":{"question":tru}}`, invalid, "research.question"},
		"a comment":                      {`{/* */}`, invalid, ""},
		"trailing data":                  {`{} {}`, invalid, ""},
		"trailing garbage":               {`{}x`, invalid, ""},
		"missing colon":                  {`{"research" {}}`, invalid, "research"},
		"long unknown names are cut":     {`{"` + strings.Repeat("a", 500) + `":1}`, unknown, `"` + strings.Repeat("a", 64) + `\u2026"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := unmarshalJSON([]byte(c.body), &writv1.AdmitOperationRequest{})
			refusal, ok := reason.As(err)
			if !ok {
				t.Fatalf("got %v, want a typed refusal", err)
			}
			if refusal.Code != c.code || refusal.Field != c.field {
				t.Errorf("got %s at %q, want %s at %q (%v)", reason.Name(refusal.Code), refusal.Field, reason.Name(c.code), c.field, err)
			}
		})
	}
}

func TestJSONRefusesBadBase64AtItsItem(t *testing.T) {
	err := unmarshalJSON([]byte(`{"items":[{"content":"YQ=="},{"content":"!"}]}`), &writv1.ImportSourcesRequest{})
	if refusal, ok := reason.As(err); !ok || refusal.Field != "items[1].content" {
		t.Fatalf("got %v", err)
	}
}

func TestJSONChecksWellKnownTypesAndEnums(t *testing.T) {
	for body, want := range map[string]reason.Error{
		`{"createdAt":"yesterday"}`:               {Code: writv1.Reason_REASON_INVALID_INPUT, Field: "created_at"},
		`{"createdAt":{"seconds":1,"seconds":1}}`: {Code: writv1.Reason_REASON_DUPLICATE_FIELD, Field: "created_at"},
		`{"state":"OPERATION_STATE_NOPE"}`:        {Code: writv1.Reason_REASON_INVALID_INPUT, Field: "state"},
		`{"state":{}}`:                            {Code: writv1.Reason_REASON_INVALID_INPUT, Field: "state"},
	} {
		err := unmarshalJSON([]byte(body), &writv1.Operation{})
		if got, ok := reason.As(err); !ok || got.Field != want.Field || got.Code != want.Code {
			t.Errorf("%s: got %v, want %s of %s", body, err, reason.Name(want.Code), want.Field)
		}
	}
}

func TestJSONAcceptsWhatProtojsonAccepts(t *testing.T) {
	for _, body := range []string{
		`{}`,
		"\n{\"research\":null}\t",
		`{"idempotency_key":"k","research":{"question":"q","slots":[{"perspective":"p","sources":[{"sourceId":"s","from_line":1,"toLine":"2"}]}],"allowance":"50000"}}`,
		`{"research":{"allowance":5e4,"slots":[]}}`,
		`{"research":{"allowance":1.0}}`,
		`{"validateOnly":true}`,
	} {
		got, want := &writv1.AdmitOperationRequest{}, &writv1.AdmitOperationRequest{}
		if err := unmarshalJSON([]byte(body), got); err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if err := protojson.Unmarshal([]byte(body), want); err != nil || !proto.Equal(got, want) {
			t.Errorf("%s: got %v, want %v (%v)", body, got, want, err)
		}
	}
	item := `{"items":[{"name":"a","content":"` + base64.StdEncoding.EncodeToString([]byte("hi")) + `"}]}`
	if err := unmarshalJSON([]byte(item), &writv1.ImportSourcesRequest{}); err != nil {
		t.Error(err)
	}
}

func wire(fields ...[]byte) []byte {
	var out []byte
	for _, field := range fields {
		out = append(out, field...)
	}
	return out
}

func lengthField(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func varintField(number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
}

func TestWireRefusalNamesFieldAndReason(t *testing.T) {
	use := func(fields ...[]byte) []byte { // research.slots[0].sources[1]
		slot := wire(lengthField(2, nil), lengthField(2, wire(fields...)))
		return lengthField(2, lengthField(2, slot))
	}
	for name, c := range map[string]struct {
		body  []byte
		code  reason.Code
		field string
	}{
		"unknown at the top":  {varintField(99, 1), writv1.Reason_REASON_UNKNOWN_FIELD, "#99"},
		"unknown deep inside": {use(varintField(77, 1)), writv1.Reason_REASON_UNKNOWN_FIELD, "research.slots[0].sources[1].#77"},
		"duplicate":           {wire(lengthField(1, []byte("a")), lengthField(1, []byte("b"))), writv1.Reason_REASON_DUPLICATE_FIELD, "idempotency_key"},
		"merged message":      {wire(lengthField(2, nil), lengthField(2, nil)), writv1.Reason_REASON_DUPLICATE_FIELD, "research"},
		"bad byte":            {lengthField(2, lengthField(1, []byte{0xff})), writv1.Reason_REASON_INVALID_UTF8, "research.question"},
		"wrong wire type":     {use(lengthField(3, []byte("1"))), writv1.Reason_REASON_INVALID_INPUT, "research.slots[0].sources[1].from_line"},
		"varint for a string": {varintField(1, 1), writv1.Reason_REASON_INVALID_INPUT, "idempotency_key"},
		"cut short":           {[]byte{0x0a, 0x05, 'a'}, writv1.Reason_REASON_INVALID_INPUT, "idempotency_key"},
		"no tag":              {[]byte{0xff}, writv1.Reason_REASON_INVALID_INPUT, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := unmarshalWire(c.body, &writv1.AdmitOperationRequest{})
			refusal, ok := reason.As(err)
			if !ok || refusal.Code != c.code || refusal.Field != c.field {
				t.Errorf("got %v, want %s at %q", err, reason.Name(c.code), c.field)
			}
		})
	}
}

func sample() *writv1.AdmitOperationRequest {
	return &writv1.AdmitOperationRequest{
		IdempotencyKey: "k",
		Input: &writv1.AdmitOperationRequest_Research{Research: &writv1.ResearchInput{
			Question: "q", Allowance: -1,
			Slots: []*writv1.ResearchSlot{{Perspective: "p", Sources: []*writv1.SourceUse{{SourceId: "s", FromLine: 1, ToLine: 1 << 31}}}},
		}},
	}
}

// noUnknown reports whether a decoded message kept anything the schema does not name.
func noUnknown(m protoreflect.Message) bool {
	clean := len(m.GetUnknown()) == 0
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range value.List().Len() {
				clean = clean && noUnknown(value.List().Get(i).Message())
			}
		default:
			clean = clean && noUnknown(value.Message())
		}
		return clean
	})
	return clean
}

func FuzzWireKeepsNothingUnknown(f *testing.F) {
	data, err := proto.Marshal(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(varintField(99, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &writv1.AdmitOperationRequest{}
		if unmarshalWire(data, m) == nil && !noUnknown(m.ProtoReflect()) {
			t.Error("an unknown field was kept")
		}
	})
}

func FuzzJSONRefusesWithAType(f *testing.F) {
	data, err := protojson.Marshal(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"research":{"slots":[{"a":1}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, want := &writv1.AdmitOperationRequest{}, &writv1.AdmitOperationRequest{}
		err := unmarshalJSON(data, got)
		if _, typed := reason.As(err); err != nil && !typed {
			t.Fatalf("untyped refusal: %v", err)
		}
		if err == nil && (protojson.Unmarshal(data, want) != nil || !proto.Equal(got, want)) {
			t.Fatal("accepted what protojson does not")
		}
	})
}
