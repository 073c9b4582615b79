package lock

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/wasm"
)

// Bounds of a lock: bytes of the lock, of one plugin, and the number of plugins.
const (
	MaxBytes   = 64 << 10
	MaxPlugin  = 256 << 20
	MaxPlugins = 256
)

// Parse reads a lock strictly: canonical JSON, this ABI, known kinds, sorted by kind and name,
// each of them once.
func Parse(raw []byte) (wasm.Lock, error) {
	var lock wasm.Lock
	if err := canon.Unmarshal(raw, &lock); err != nil {
		return wasm.Lock{}, err
	}
	canonical, err := canon.Marshal(lock)
	if err != nil {
		return wasm.Lock{}, err
	}
	if !bytes.Equal(canonical, raw) {
		return wasm.Lock{}, errors.New("not canonical JSON")
	}
	if lock.ABI != wasm.ABI {
		return wasm.Lock{}, fmt.Errorf("abi is %q, this build speaks %q", lock.ABI, wasm.ABI)
	}
	if len(lock.Plugins) > MaxPlugins {
		return wasm.Lock{}, fmt.Errorf("%d plugins, at most %d", len(lock.Plugins), MaxPlugins)
	}
	files := map[string]bool{}
	for i, p := range lock.Plugins {
		if err := checkEntry(p); err != nil {
			return wasm.Lock{}, fmt.Errorf("plugins[%d].%w", i, err)
		}
		if i > 0 && compareEntries(lock.Plugins[i-1], p) >= 0 {
			return wasm.Lock{}, fmt.Errorf("plugins[%d]: %s %s is out of order or listed twice", i, p.Kind, p.Name)
		}
		if files[p.File] {
			return wasm.Lock{}, fmt.Errorf("plugins[%d].file: %q is listed twice", i, p.File)
		}
		files[p.File] = true
	}
	return lock, nil
}

// Marshal sorts the entries and returns the lock's canonical bytes.
func Marshal(entries []wasm.LockedEntry) ([]byte, error) {
	entries = slices.SortedFunc(slices.Values(entries), compareEntries)
	raw, err := canon.Marshal(wasm.Lock{ABI: wasm.ABI, Plugins: entries})
	if err != nil {
		return nil, err
	}
	_, err = Parse(raw)
	return raw, err
}

func compareEntries(a, b wasm.LockedEntry) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

func checkEntry(p wasm.LockedEntry) error {
	switch p.Kind {
	case wasm.KindNormalizer, wasm.KindReader, wasm.KindAssembler, wasm.KindModel:
	default:
		return fmt.Errorf("kind: %q is not a kind", p.Kind)
	}
	switch {
	case !isToken(p.Name):
		return fmt.Errorf("name: %q is not a plugin name", p.Name)
	case !isToken(p.Version):
		return fmt.Errorf("version: %q is not a version", p.Version)
	case !isToken(p.File) || path.Base(p.File) != p.File:
		return fmt.Errorf("file: %q is not a plain file name", p.File)
	case !canon.IsDigest(p.SHA256):
		return fmt.Errorf("sha256: %q is not a digest", p.SHA256)
	case p.Size < 1 || p.Size > MaxPlugin:
		return fmt.Errorf("size: %d is outside 1 to %d", p.Size, MaxPlugin)
	}
	return nil
}

// isToken admits names that mean the same on every file system and in every message.
func isToken(s string) bool {
	return s != "" && len(s) <= 100 && s[0] != '.' && s[0] != '-' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}
