package section

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-kernel/writ/abi/wasm"
)

// ErrMalformed is returned for bytes that are not a WebAssembly 1.0 binary module.
var ErrMalformed = errors.New("malformed module")

const magic = "\x00asm\x01\x00\x00\x00"

const (
	idCustom = 0
	idImport = 2
	idStart  = 8
)

// Module is what Read found.
type Module struct {
	Imports  []Import
	HasStart bool
	custom   []custom
}

// Import is one entry of the import section. Kind is func, table, memory or global.
type Import struct {
	Module, Name, Kind string
}

type custom struct {
	name string
	data []byte
}

// Read walks the sections of a module.
func Read(module []byte) (Module, error) {
	var m Module
	if len(module) < len(magic) || string(module[:len(magic)]) != magic {
		return m, fmt.Errorf("%w: no WebAssembly 1.0 header", ErrMalformed)
	}
	r := reader{b: module[len(magic):]}
	for len(r.b) > 0 {
		id := r.byte()
		body := reader{b: r.bytes(r.u32())}
		if r.bad {
			return m, fmt.Errorf("%w: section %d is cut short", ErrMalformed, id)
		}
		switch id {
		case idCustom:
			name := body.name()
			m.custom = append(m.custom, custom{name, body.b})
		case idImport:
			m.Imports = append(m.Imports, body.imports()...)
		case idStart:
			m.HasStart = true
		}
		if body.bad {
			return m, fmt.Errorf("%w: section %d has a bad entry", ErrMalformed, id)
		}
	}
	return m, nil
}

// Custom returns the one custom section of that name. Two of the same name are an error, so that no
// two readers can see different ones.
func (m Module) Custom(name string) (data []byte, found bool, err error) {
	for _, c := range m.custom {
		if c.name != name {
			continue
		}
		if found {
			return nil, false, fmt.Errorf("%w: two sections named %s", ErrMalformed, name)
		}
		data, found = c.data, true
	}
	return data, found, nil
}

// Manifest reads the module's own description.
func (m Module) Manifest() (wasm.Manifest, error) {
	var manifest wasm.Manifest
	data, found, err := m.Custom(wasm.ManifestSection)
	if err != nil {
		return manifest, err
	}
	if !found {
		return manifest, fmt.Errorf("no section %s", wasm.ManifestSection)
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return manifest, fmt.Errorf("section %s: %w", wasm.ManifestSection, err)
	}
	return manifest, nil
}

// Append returns the module with a custom section at its end.
func Append(module []byte, name string, data []byte) []byte {
	body := appendName(nil, name)
	body = append(body, data...)
	out := append(append([]byte(nil), module...), idCustom)
	return append(appendU32(out, len(body)), body...)
}

func appendName(b []byte, name string) []byte {
	return append(appendU32(b, len(name)), name...)
}

func appendU32(b []byte, n int) []byte {
	v := uint32(n)
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
