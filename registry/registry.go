package registry

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/abi/wasm/lock"
	"github.com/writ-kernel/writ/abi/wasm/section"
)

const rebuild = "run `make build` to build the plugins and the binary that pins them together"

// BuildLock is the lower-case hex SHA-256 of the lock this binary was built with, set by the linker.
// Empty means that the binary is not pinned, as in tests.
var BuildLock string

// Registry is the plugins of one build.
type Registry struct {
	fsys   fs.FS
	lock   wasm.Lock
	digest string
}

// Plugin is one vouched-for plugin: bytes that were hashed and found to be what the lock names.
type Plugin struct {
	Manifest wasm.Manifest
	SHA256   string
	Bytes    []byte
}

// Open reads the lock from fsys, the folder that holds it and the plugins. It fails with
// REASON_NOT_FOUND when there is none and with REASON_PLUGIN_DIGEST when it is not the lock this
// binary was built with or is not well formed.
func Open(fsys fs.FS) (*Registry, error) {
	raw, err := readBounded(fsys, wasm.LockFile, lock.MaxBytes)
	if err != nil {
		return nil, unreadable(wasm.LockFile, err)
	}
	digest := canon.Digest(raw)
	if BuildLock != "" && digest != BuildLock {
		return nil, mismatch(wasm.LockFile, BuildLock, digest)
	}
	locked, err := lock.Parse(raw)
	if err != nil {
		return nil, reason.New(writv1.Reason_REASON_PLUGIN_DIGEST, "%s: %w", wasm.LockFile, err).WithNext(rebuild)
	}
	return &Registry{fsys, locked, digest}, nil
}

// LockSHA256 is the digest of the lock that was opened.
func (r *Registry) LockSHA256() string { return r.digest }

// List names every plugin in order of kind, then name.
func (r *Registry) List() []wasm.LockedEntry { return slices.Clone(r.lock.Plugins) }

// Load reads and hashes one plugin. It fails with REASON_NOT_FOUND when the lock has no such plugin
// or its file is missing, and with REASON_PLUGIN_DIGEST, naming both digests, when a byte differs.
func (r *Registry) Load(kind, name string) (Plugin, error) {
	i := slices.IndexFunc(r.lock.Plugins, func(p wasm.LockedEntry) bool { return p.Kind == kind && p.Name == name })
	if i < 0 {
		return Plugin{}, reason.New(writv1.Reason_REASON_NOT_FOUND, "this build has no %s %s", kind, name).WithNext(rebuild)
	}
	entry := r.lock.Plugins[i]
	raw, err := readBounded(r.fsys, entry.File, entry.Size)
	if err != nil {
		return Plugin{}, unreadable(entry.File, err)
	}
	if digest := canon.Digest(raw); digest != entry.SHA256 {
		return Plugin{}, mismatch(entry.File, entry.SHA256, digest)
	}
	manifest := wasm.Manifest{ABI: wasm.ABI, Kind: entry.Kind, Name: entry.Name, Version: entry.Version}
	if kind != wasm.KindModel {
		if manifest, err = ownManifest(entry, raw); err != nil {
			return Plugin{}, reason.New(writv1.Reason_REASON_PLUGIN_DIGEST, "%s: %w", entry.File, err).WithNext(rebuild)
		}
	}
	return Plugin{Manifest: manifest, SHA256: entry.SHA256, Bytes: raw}, nil
}

func ownManifest(entry wasm.LockedEntry, raw []byte) (wasm.Manifest, error) {
	module, err := section.Read(raw)
	if err != nil {
		return wasm.Manifest{}, err
	}
	m, err := module.Manifest()
	if err != nil {
		return wasm.Manifest{}, err
	}
	if m.ABI != wasm.ABI || m.Kind != entry.Kind || m.Name != entry.Name || m.Version != entry.Version {
		return wasm.Manifest{}, errors.New("the module calls itself " + m.ABI + " " + m.Kind + " " + m.Name + " " + m.Version)
	}
	return m, nil
}

// readBounded reads at most limit+1 bytes, so that a file that grew is noticed by its digest and
// never fills memory.
func readBounded(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	// Sized beforehand: a module is read at every call, and growing would cost more than hashing.
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
	_, err = b.ReadFrom(io.LimitReader(f, limit+1))
	return b.Bytes(), err
}

func unreadable(name string, err error) error {
	code := writv1.Reason_REASON_PLUGIN_DIGEST
	if errors.Is(err, fs.ErrNotExist) {
		code = writv1.Reason_REASON_NOT_FOUND
	}
	return reason.New(code, "%s: %w", name, err).WithNext(rebuild)
}

func mismatch(name, expected, actual string) error {
	return reason.New(writv1.Reason_REASON_PLUGIN_DIGEST,
		"%s: expected sha256 %s, found %s", name, expected, actual).WithNext(rebuild)
}
