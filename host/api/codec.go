package api

import (
	"context"
	"fmt"
	"io"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"connectrpc.com/connect/v2/connectproto"
	"google.golang.org/protobuf/proto"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// MaxRequestBytes bounds one request message, decompressed. It holds the largest legal request,
// eight sources of 64 KiB in base64, with room to spare.
const MaxRequestBytes = 1 << 20

// ServerOptions are the transport options every service of this API is mounted with: the strict
// codecs and the request size limit.
func ServerOptions() []connecthttp.Option {
	return []connecthttp.Option{
		connecthttp.WithCodecs(binaryCodec{connectproto.NewBinaryCodec()}, jsonCodec{connectproto.NewJSONCodec()}),
		connecthttp.WithReadMaxBytes(MaxRequestBytes),
	}
}

// jsonCodec encodes as connectproto does and decodes strictly. The transport keeps a decoding error
// as the cause of its own, from which Errors recovers the typed reason.
type jsonCodec struct{ *connectproto.JSONCodec }

func (jsonCodec) UnmarshalRead(_ context.Context, src io.Reader, msg any) error {
	return unmarshalRead(src, msg, unmarshalJSON)
}

// binaryCodec is the same for the protobuf wire format.
type binaryCodec struct{ *connectproto.BinaryCodec }

func (binaryCodec) UnmarshalRead(_ context.Context, src io.Reader, msg any) error {
	return unmarshalRead(src, msg, unmarshalWire)
}

func unmarshalRead(src io.Reader, msg any, unmarshal func([]byte, proto.Message) error) error {
	m, ok := msg.(proto.Message)
	if !ok {
		return fmt.Errorf("%w: got %T", connectproto.ErrNotProtoMessage, msg)
	}
	data, err := io.ReadAll(src)
	if err != nil {
		return err
	}
	return unmarshal(data, m)
}

func invalid(field, format string, args ...any) *reason.Error {
	return reason.Field(writv1.Reason_REASON_INVALID_INPUT, field, format, args...)
}

// The codecs keep the stable encodings that Connect GET needs.
var (
	_ connect.StableCodec = jsonCodec{}
	_ connect.StableCodec = binaryCodec{}
)
