package wasm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/writ-kernel/writ/abi/canon"
	abi "github.com/writ-kernel/writ/abi/wasm"
)

// features are WebAssembly 2.0 without reference types, whose table.grow escapes memory limits.
const features = api.CoreFeaturesV2 &^ api.CoreFeatureReferenceTypes

// engine compiles modules and runs calls, one at a time. Workers have one each.
type engine struct {
	ctx      context.Context // carries the allocator
	runtime  wazero.Runtime
	arena    arena
	compiled map[string]wazero.CompiledModule // by SHA-256
	spare    *instance                        // made ahead for the module that ran last
}

// instance is one instantiated module. No guest code has run in it yet.
type instance struct {
	sha256 string
	module api.Module
	memory *linearMemory
}

func newEngine(cacheDir string) (*engine, error) {
	e := &engine{compiled: map[string]wazero.CompiledModule{}}
	config := wazero.NewRuntimeConfig().WithCoreFeatures(features).WithMemoryLimitPages(MaxMemory >> 16)
	if cacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
		if err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(cache)
	}
	e.ctx = experimental.WithCompilationWorkers(context.Background(), runtime.GOMAXPROCS(0))
	e.runtime = wazero.NewRuntimeWithConfig(e.ctx, config)
	if err := provide(e.ctx, e.runtime, abi.ImportModule, writImports); err != nil {
		return nil, err
	}
	return e, provide(e.ctx, e.runtime, abi.ImportWASI, wasiImports)
}

// load verifies, checks and compiles a module. An error says why it may not run.
func (e *engine) load(sha256 string, module []byte) error {
	if e.compiled[sha256] != nil {
		return nil
	}
	if actual := canon.Digest(module); actual != sha256 {
		return fmt.Errorf("expected sha256 %s, found %s", sha256, actual)
	}
	if err := checkSections(module); err != nil {
		return err
	}
	m, err := e.runtime.CompileModule(e.ctx, module)
	if err != nil {
		return err
	}
	if err := checkExports(m); err != nil {
		m.Close(e.ctx)
		return err
	}
	e.compiled[sha256] = m
	return nil
}

// prepare makes the spare for a module, so that a call need not wait for it.
func (e *engine) prepare(sha256 string) error {
	if e.spare != nil && e.spare.sha256 == sha256 {
		return nil
	}
	e.discardSpare()
	m := e.compiled[sha256]
	if m == nil {
		return errors.New("the module is not loaded")
	}
	i := &instance{sha256: sha256}
	allocator := experimental.MemoryAllocatorFunc(func(capacity, max uint64) experimental.LinearMemory {
		i.memory = e.arena.Allocate(capacity, max).(*linearMemory)
		return i.memory
	})
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	var err error
	i.module, err = e.runtime.InstantiateModule(experimental.WithMemoryAllocator(e.ctx, allocator), m, config)
	if err != nil {
		return err
	}
	if i.memory == nil {
		i.module.Close(e.ctx)
		return errors.New("the module has no memory of its own")
	}
	e.spare = i
	return nil
}

func (e *engine) discardSpare() {
	if e.spare != nil {
		e.spare.module.Close(e.ctx)
		e.spare = nil
	}
}

// call runs one request in a fresh instance and returns what the instance left.
func (e *engine) call(meta callMeta, frame []byte) (answerMeta, *guestCall) {
	c := newGuestCall(frame, meta)
	if err := e.prepare(meta.SHA256); err != nil {
		return answerMeta{Fault: FaultRefused, Detail: detailOf(err)}, c
	}
	i := e.spare
	e.spare = nil
	defer i.module.Close(e.ctx)
	if i.memory.peak > uint64(meta.MemoryBytes) {
		return answerMeta{Fault: FaultRefused, Detail: fmt.Sprintf("starts with %d bytes of memory, the limit is %d", i.memory.peak, meta.MemoryBytes)}, c
	}
	i.memory.limit = uint64(meta.MemoryBytes)
	ctx := context.WithValue(e.ctx, callKey{}, c)
	run, err := start(ctx, i.module)
	answer := answerMeta{Run: run, PeakMemory: int64(i.memory.peak)}
	switch {
	case c.overflow || err == nil && run == abi.RunOutput:
		answer.Fault, answer.Detail = FaultOutput, fmt.Sprintf("more than %d bytes of output", meta.OutputBytes)
	case err != nil:
		answer.Fault, answer.Detail = FaultTrap, detailOf(err)
	}
	return answer, c
}

func start(ctx context.Context, m api.Module) (int32, error) {
	if initialize := m.ExportedFunction(abi.ExportInitialize); initialize != nil {
		if _, err := initialize.Call(ctx); err != nil {
			return 0, err
		}
	}
	results, err := m.ExportedFunction(abi.ExportRun).Call(ctx)
	if err != nil {
		return 0, err
	}
	return int32(uint32(results[0])), nil
}

const maxDetail = 2 << 10

func detailOf(err error) string {
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		return fmt.Sprintf("the module exited with code %d", exit.ExitCode())
	}
	return string(clip([]byte(err.Error()), maxDetail))
}

// engineName says what ran a call: part of the call's receipt.
func engineName() string {
	const path = "github.com/tetratelabs/wazero"
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == path {
				version = dep.Version
			}
		}
	}
	return "wazero " + version + " " + runtime.GOOS + "/" + runtime.GOARCH
}
