package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	abi "github.com/writ-kernel/writ/abi/wasm"
)

// guestCall is all that one call can touch. It travels in the context of the call.
type guestCall struct {
	input    []byte
	output   []byte
	log      []byte
	limits   callMeta
	overflow bool
	clock    uint64 // virtual nanoseconds since the instance was made
	random   *rand.ChaCha8
}

func newGuestCall(input []byte, limits callMeta) *guestCall {
	return &guestCall{
		input:  input,
		output: make([]byte, 0, min(limits.OutputBytes, int64(len(input))+4<<10)),
		limits: limits,
		random: rand.NewChaCha8(sha256.Sum256(input)),
	}
}

type callKey struct{}

func callOf(ctx context.Context) *guestCall { return ctx.Value(callKey{}).(*guestCall) }

func (c *guestCall) writeLog(b []byte) {
	room := int(c.limits.LogBytes) - len(c.log)
	c.log = append(c.log, clip(b, room)...)
}

var (
	errMemoryRange = errors.New("pointer and length outside memory")
	errInputRange  = errors.New("input_read beyond the input")
)

// hostFunction is one import: its type, and its body over the raw value stack.
type hostFunction struct {
	params, results []api.ValueType
	call            func(c *guestCall, mem api.Memory, stack []uint64)
}

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

// memoryView is a window into guest memory. It is used before the guest runs on, never kept. A
// range outside memory ends the instance.
func memoryView(mem api.Memory, ptr, n uint64) []byte {
	view, ok := mem.Read(uint32(ptr), uint32(n))
	if !ok {
		panic(errMemoryRange)
	}
	return view
}

var writImports = map[string]hostFunction{
	abi.ImportInputLen: {nil, []api.ValueType{i32}, func(c *guestCall, _ api.Memory, stack []uint64) {
		stack[0] = uint64(len(c.input))
	}},
	abi.ImportInputRead: {[]api.ValueType{i32, i32}, nil, func(c *guestCall, mem api.Memory, stack []uint64) {
		n := uint32(stack[1])
		if uint64(n) > uint64(len(c.input)) {
			panic(errInputRange)
		}
		copy(memoryView(mem, stack[0], stack[1]), c.input[:n])
	}},
	abi.ImportOutputWrite: {[]api.ValueType{i32, i32}, []api.ValueType{i32}, func(c *guestCall, mem api.Memory, stack []uint64) {
		view := memoryView(mem, stack[0], stack[1])
		if c.overflow || int64(len(c.output))+int64(len(view)) > c.limits.OutputBytes {
			c.overflow = true
			stack[0] = 1
			return
		}
		c.output = append(c.output, view...)
		stack[0] = 0
	}},
	abi.ImportLog: {[]api.ValueType{i32, i32}, nil, func(c *guestCall, mem api.Memory, stack []uint64) {
		c.writeLog(memoryView(mem, stack[0], stack[1]))
	}},
}

// provide makes the imports available to every module of the runtime. They keep no state: a call's
// state comes with its context.
func provide(ctx context.Context, r wazero.Runtime, module string, functions map[string]hostFunction) error {
	b := r.NewHostModuleBuilder(module)
	for name, f := range functions {
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(
			func(ctx context.Context, m api.Module, stack []uint64) { f.call(callOf(ctx), m.Memory(), stack) },
		), f.params, f.results).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}
