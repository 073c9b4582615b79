package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/abi/wasm/lock"
	"github.com/writ-kernel/writ/abi/wasm/section"
)

// workDir holds what the Go linker wrote last, so that the go command can see that it is up to date.
const workDir = ".work"

type builder struct {
	root string // module root
	dir  string // folder of plugins and lock
}

// build compiles the plugins, writes the lock and returns its digest.
func (b builder) build(plugins []plugin) (string, error) {
	entries := make([]wasm.LockedEntry, len(plugins))
	errs := make([]error, len(plugins))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, p := range plugins {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			entries[i], errs[i] = b.plugin(p)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	raw, err := lock.Marshal(entries)
	if err != nil {
		return "", err
	}
	if err := writeChanged(filepath.Join(b.dir, wasm.LockFile), raw, 0o644); err != nil {
		return "", err
	}
	return canon.Digest(raw), b.sweep(entries)
}

func (b builder) plugin(p plugin) (wasm.LockedEntry, error) {
	entry := wasm.LockedEntry{Kind: p.manifest.Kind, Name: p.manifest.Name, Version: p.manifest.Version}
	entry.File = entry.Kind + "-" + entry.Name
	isModule := entry.Kind != wasm.KindModel
	linked := filepath.Join(b.dir, workDir, entry.File)
	var err error
	if isModule {
		entry.File += ".wasm"
		err = b.goBuild(linked, p.pkg, []string{"GOOS=wasip1", "GOARCH=wasm"}, "-buildmode=c-shared", "-ldflags", "-s -w")
	} else {
		err = b.goBuild(linked, p.pkg, nil, "-ldflags", "-s -w")
	}
	if err != nil {
		return entry, err
	}
	raw, err := os.ReadFile(linked)
	if err != nil {
		return entry, err
	}
	mode := os.FileMode(0o755)
	if isModule {
		mode = 0o644
		manifest, err := canon.Marshal(p.manifest)
		if err != nil {
			return entry, err
		}
		raw = section.Append(raw, wasm.ManifestSection, manifest)
	}
	entry.SHA256, entry.Size = canon.Digest(raw), int64(len(raw))
	return entry, writeChanged(filepath.Join(b.dir, entry.File), raw, mode)
}

// goBuild runs the go command with flags that keep machine paths and the state of the checkout out
// of the output.
func (b builder) goBuild(out, pkg string, env []string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-o", out}, flags...)
	cmd := exec.Command("go", append(args, pkg)...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Env = append(cmd.Env, env...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, output)
	}
	return nil
}

// sweep removes files that the lock does not name, left by plugins that have gone.
func (b builder) sweep(entries []wasm.LockedEntry) error {
	files, err := os.ReadDir(b.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		known := f.Name() == wasm.LockFile || f.IsDir() ||
			slices.ContainsFunc(entries, func(e wasm.LockedEntry) bool { return e.File == f.Name() })
		if !known {
			if err := os.Remove(filepath.Join(b.dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeChanged replaces the file in one step, because another process may be reading or running it,
// and leaves it alone when it holds these bytes already.
func writeChanged(file string, raw []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, raw) {
		return nil
	}
	tmp := filepath.Join(filepath.Dir(file), workDir, filepath.Base(file)+".tmp")
	if err := os.WriteFile(tmp, raw, mode); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}
