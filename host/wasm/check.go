package wasm

import (
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	abi "github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/abi/wasm/section"
)

// checkSections refuses, before anything is compiled, a module that asks for more than the ABI gives.
func checkSections(module []byte) error {
	m, err := section.Read(module)
	if err != nil {
		return err
	}
	if m.HasStart {
		return fmt.Errorf("a start section would run before the call")
	}
	for _, i := range m.Imports {
		known := false
		switch i.Module {
		case abi.ImportModule:
			_, known = writImports[i.Name]
		case abi.ImportWASI:
			_, known = wasiImports[i.Name]
		}
		if !known || i.Kind != "func" {
			return fmt.Errorf("import %s.%s (%s) is not allowed", i.Module, i.Name, i.Kind)
		}
	}
	return nil
}

// checkExports refuses a compiled module that lacks what the ABI calls.
func checkExports(m wazero.CompiledModule) error {
	functions := m.ExportedFunctions()
	if functions[abi.ExportMarker] == nil {
		return fmt.Errorf("no export %s: the module does not speak %s", abi.ExportMarker, abi.ABI)
	}
	run := functions[abi.ExportRun]
	if run == nil || len(run.ParamTypes()) != 0 || len(run.ResultTypes()) != 1 || run.ResultTypes()[0] != api.ValueTypeI32 {
		return fmt.Errorf("no export %s() i32", abi.ExportRun)
	}
	if init := functions[abi.ExportInitialize]; init != nil && len(init.ParamTypes())+len(init.ResultTypes()) != 0 {
		return fmt.Errorf("export %s takes or gives values", abi.ExportInitialize)
	}
	if m.ExportedMemories()[abi.ExportMemory] == nil {
		return fmt.Errorf("no export %s", abi.ExportMemory)
	}
	return nil
}
