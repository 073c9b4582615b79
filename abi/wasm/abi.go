package wasm

// ABI is the version every frame and manifest names. A host and a module that disagree refuse each
// other; there is no negotiation.
const ABI = "writ/1"

// What a module exports.
const (
	ExportMarker     = "writ_abi_1"  // a function, never called: its presence names the ABI
	ExportInitialize = "_initialize" // called once before run, when present
	ExportRun        = "run"         // () -> i32
	ExportMemory     = "memory"
)

// What a module may import from the host.
const (
	ImportModule      = "writ"
	ImportInputLen    = "input_len"    // () -> i32: bytes of the request frame
	ImportInputRead   = "input_read"   // (ptr, len): copies the first len bytes of the frame to ptr
	ImportOutputWrite = "output_write" // (ptr, len) -> i32: appends to the answer; 0, or 1 when the limit is reached
	ImportLog         = "log"          // (ptr, len): appends to the log, cut at the limit
	ImportWASI        = "wasi_snapshot_preview1"
)

// ManifestSection is the custom section that describes a module without running it.
const ManifestSection = "writ.manifest"

// Kinds of plugin. KindModel is a subprocess adapter and stands here because the build lists it in
// the same lock.
const (
	KindNormalizer = "normalizer"
	KindReader     = "reader"
	KindAssembler  = "assembler"
	KindModel      = "model"
)

// Operations, one per kind.
const (
	OpNormalize = "normalize" // normalizer: raw bytes to text and map
	OpStructure = "structure" // reader: normalized text to segments
	OpAssemble  = "assemble"  // assembler: typed manifest to text and placement
)

// What run returns. Any other value is a fault of the module.
const (
	RunOK         = 0 // the answer is a result
	RunRefused    = 1 // the answer is an error header: the input is at fault
	RunBadRequest = 2 // the answer is an error header: frame, ABI, kind or op not understood
	RunOutput     = 3 // the output limit was reached
	RunInternal   = 4 // the answer is an error header: the module is at fault
)

// Error codes that more than one module uses. A module may add its own; every code matches
// [a-z][a-z0-9_]{0,63}.
const (
	CodeInvalidUTF8      = "invalid_utf8"
	CodeControlCharacter = "control_character"
	CodeBadFrame         = "bad_frame"
	CodeBadABI           = "bad_abi"
	CodeUnknownOp        = "unknown_op"
	CodeBadInput         = "bad_input"
	CodeOutputLimit      = "output_limit"
	CodeInternal         = "internal"
)

// Media types of request bodies.
const (
	MediaText    = "text/plain; charset=utf-8"
	MediaDossier = "application/vnd.writ.dossier.v1+json"
	MediaAny     = "application/octet-stream"
)
