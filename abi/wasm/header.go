package wasm

// Limits are what the host enforces on one call, told to the module so that it can refuse early.
type Limits struct {
	LogBytes    int64 `json:"log_bytes"`
	MemoryBytes int64 `json:"memory_bytes"`
	OutputBytes int64 `json:"output_bytes"`
	WallMillis  int64 `json:"wall_ms"`
}

// RequestHeader is the first line of a request frame. The host adds at least one field that is not
// listed here; a module ignores every field it does not know.
type RequestHeader struct {
	ABI       string `json:"abi"`
	Kind      string `json:"kind"`
	Limits    Limits `json:"limits"`
	MediaType string `json:"media_type"`
	Op        string `json:"op"`
}

// AnswerHeader holds what every answer has. Error is set exactly when run did not return 0.
type AnswerHeader struct {
	ABI   string       `json:"abi"`
	Error *ErrorHeader `json:"error,omitempty"`
	Kind  string       `json:"kind"`
	Op    string       `json:"op"`
}

// ErrorHeader is a module's own refusal.
type ErrorHeader struct {
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"` // at most 512 bytes, never source text
	// Offset is the byte offset in the request body that is at fault; nil when there is none.
	Offset *int64 `json:"offset,omitempty"`
}

// NormalizeHeader is the result header of OpNormalize. The body is TextBytes bytes of text, then
// MapBytes bytes of RawMap.
type NormalizeHeader struct {
	AnswerHeader
	BOM       bool  `json:"bom"`
	Lines     int64 `json:"lines"`
	MapBytes  int64 `json:"map_bytes"`
	TextBytes int64 `json:"text_bytes"`
}

// AssembleHeader is the result header of OpAssemble. The body is TextBytes bytes of text, then
// PlacementBytes bytes of JSON Placement.
type AssembleHeader struct {
	AnswerHeader
	PlacementBytes int64 `json:"placement_bytes"`
	TextBytes      int64 `json:"text_bytes"`
}
