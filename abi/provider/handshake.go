package provider

import plugin "github.com/hashicorp/go-plugin"

// ABI is the protocol an adapter is built for; its manifest, its Info and the host must name the
// same one.
const ABI = "writ.provider.v1"

// KindLocalModel is the adapter kind that generates inside its own process.
const KindLocalModel = "local_model"

// Message bounds in bytes. A request is at most an 8 KiB payload and an answer at most 16 KiB of
// text; the message bound leaves room for both and for framing, and nothing near the library's
// own default of 2 GiB.
const (
	MaxPayloadBytes = 8 << 10
	MaxTextBytes    = 16 << 10
	MaxMessageBytes = 64<<10 + 4<<10
	MaxHeaderBytes  = 16 << 10
)

// Finish values of a GenerateResponse.
const (
	FinishStop   = "stop"   // the adapter said all it had to say
	FinishLength = "length" // a bound cut the text
)

// Handshake keeps an adapter from being run by hand or by a host of another protocol. It is no
// security measure: the digest of the bytes is.
var Handshake = plugin.HandshakeConfig{
	ProtocolVersion:  1,
	MagicCookieKey:   "WRIT_PROVIDER_ADAPTER",
	MagicCookieValue: ABI,
}
