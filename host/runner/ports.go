package runner

import (
	"context"
	"errors"

	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/kernel/research"
)

// Modules runs pinned WASM modules in worker processes.
type Modules interface {
	// Structure splits a normalized text into segments.
	Structure(ctx context.Context, reader research.Pin, text []byte) ([]wasm.Segment, error)
	// Assemble words a manifest, given as canonical JSON.
	Assemble(ctx context.Context, assembler research.Pin, manifest []byte) (text []byte, err error)
}

// Call is the one provider call of a slot.
type Call struct {
	ID           string // reservation ID, stable over restarts
	Model        string
	Payload      []byte // exactly the bytes whose digest the reservation binds
	OutputTokens int
	OutputBytes  int
}

// Answer is what came back, untouched.
type Answer struct {
	Text   []byte `json:"text"`
	Finish string `json:"finish"`
	Charge string `json:"charge"` // literal, empty when none was reported
}

// ModelFacts are an adapter's own words about one model.
type ModelFacts struct {
	Deterministic bool
	LanguageModel bool
}

// FinishOverflow is the finish of an answer that was longer than allowed; its text is dropped.
const FinishOverflow = "overflow"

// ErrNotSent marks a failed call of which this process proves that no request byte left.
var ErrNotSent = errors.New("the request was not sent")

// Models runs pinned provider adapters.
type Models interface {
	Describe(ctx context.Context, adapter research.Pin, model string) (ModelFacts, error)
	Generate(ctx context.Context, adapter research.Pin, call Call) (Answer, error)
}

// Files is the private workspace.
type Files interface {
	// Write stores bytes under a materialization promise: staged, synced, renamed to the digest and
	// read back. Writing the same bytes again is fine.
	Write(owner, promise string, data []byte, limit int) (sha256 string, err error)
	// Read returns verified bytes.
	Read(owner, sha256 string, limit int) ([]byte, error)
	// Recover returns the bytes that an earlier process completed under a promise, if it did.
	Recover(owner, promise string, limit int) (data []byte, found bool, err error)
	// Settled forgets the working name of a promise whose adoption is durable.
	Settled(owner, promise string) error
}
