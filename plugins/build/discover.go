package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/writ-kernel/writ/abi/wasm"
)

// plugin is one main package and what it says about itself.
type plugin struct {
	manifest wasm.Manifest
	pkg      string
}

// folders maps the folders of first-party plugins to the kind that each holds.
var folders = map[string]string{
	"normalizers": wasm.KindNormalizer,
	"readers":     wasm.KindReader,
	"assemblers":  wasm.KindAssembler,
	"models":      wasm.KindModel,
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if file == "" || file == os.DevNull {
		return "", fmt.Errorf("run inside a checkout: no go.mod found")
	}
	return filepath.Dir(file), nil
}

// discover finds every folder of a kind that holds a manifest.json.
func discover(root string) ([]plugin, error) {
	var found []plugin
	for folder, kind := range folders {
		files, err := filepath.Glob(filepath.Join(root, "plugins", folder, "*", "manifest.json"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			m, err := readManifest(file)
			if err != nil {
				return nil, err
			}
			if m.Kind != kind {
				return nil, fmt.Errorf("%s: kind is %q in a folder of kind %q", file, m.Kind, kind)
			}
			pkg := "./plugins/" + folder + "/" + filepath.Base(filepath.Dir(file))
			found = append(found, plugin{m, pkg})
		}
	}
	return found, nil
}

func readManifest(file string) (wasm.Manifest, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return wasm.Manifest{}, err
	}
	return parseManifest(file, raw)
}

func parseManifest(file string, raw []byte) (wasm.Manifest, error) {
	var m wasm.Manifest
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return m, fmt.Errorf("%s: %w", file, err)
	}
	if m.ABI != abiOf(m.Kind) {
		return m, fmt.Errorf("%s: abi is %q, a %s speaks %q", file, m.ABI, m.Kind, abiOf(m.Kind))
	}
	return m, nil
}

func extraManifest(kind, name string) wasm.Manifest {
	return wasm.Manifest{ABI: abiOf(kind), Kind: kind, MediaTypes: []string{}, Name: name, SDK: "go", Version: "0.0.0-extra"}
}

// abiOf is the ABI a kind speaks: modules speak this one, adapters the provider ABI.
func abiOf(kind string) string {
	if kind == wasm.KindModel {
		return "writ.provider.v1"
	}
	return wasm.ABI
}
