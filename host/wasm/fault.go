package wasm

import (
	"fmt"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// FaultKind says how a call went wrong.
type FaultKind string

// Kinds of fault. After every one but FaultRefused and FaultAnswer the worker is gone.
const (
	FaultRefused FaultKind = "refused"      // the module may not run: import, export, start section, digest
	FaultWall    FaultKind = "wall_limit"   // killed at the wall limit
	FaultTrap    FaultKind = "trap"         // the module trapped or exited
	FaultOutput  FaultKind = "output_limit" // more output than the limit
	FaultCrash   FaultKind = "crash"        // the worker died or could not be started
	FaultFrame   FaultKind = "frame"        // the worker sent what no honest worker sends
	FaultAnswer  FaultKind = "answer"       // the module's answer breaks its schema
)

// Fault is a call that gave no usable answer, through no fault of its input. It is wrapped in a
// reason.Error with REASON_PLUGIN_FAILED.
type Fault struct {
	Kind   FaultKind
	Module string // kind and name
	Detail string // escaped, bounded
	Log    string // the module's log as far as it is known, escaped
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("%s: %s: %s", f.Module, f.Kind, f.Detail)
	if f.Log != "" {
		s += "; log: " + f.Log
	}
	return s
}

// NoOffset says that a GuestError points to no byte.
const NoOffset = -1

// GuestError is a module's own refusal: usually of its input (Run is wasm.RunRefused). It is wrapped
// in a reason.Error with REASON_PLUGIN_FAILED.
type GuestError struct {
	Module string // kind and name
	Run    int32  // what run returned
	Code   string
	Detail string // escaped
	Offset int64  // byte offset in the request body, or NoOffset
}

func (e *GuestError) Error() string {
	s := e.Module + ": " + e.Code
	if e.Offset != NoOffset {
		s += fmt.Sprintf(" at byte %d", e.Offset)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

func failed(err error) error {
	return reason.New(writv1.Reason_REASON_PLUGIN_FAILED, "%w", err)
}
