package providertest

import "strings"

// ModelPrefix stands before the socket path in a request's model name.
const ModelPrefix = "counting:"

// MaxReplyBytes bounds what the adapter reads of one reply, above every bound of the host so that
// oversize answers can be tested.
const MaxReplyBytes = 1 << 20

// Request is what the adapter sends: one JSON object, then the end of its side of the connection.
type Request struct {
	CallID          string `json:"call_id"`
	PayloadSHA256   string `json:"payload_sha256"`
	Payload         []byte `json:"payload"`
	MaxOutputBytes  uint32 `json:"max_output_bytes"`
	MaxOutputTokens uint32 `json:"max_output_tokens"`
}

// Reply is what it gets back, as one JSON object. A connection that ends before the object does is
// a reply that was cut.
type Reply struct {
	Text   []byte `json:"text"`
	Finish string `json:"finish"`
	Charge string `json:"charge"`
}

// SocketPath reads the server's address from a model name.
func SocketPath(model string) (string, bool) { return strings.CutPrefix(model, ModelPrefix) }
