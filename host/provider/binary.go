package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/registry"
)

const dirPrefix = "adapter-"

// binary is an adapter's file in its private directory.
type binary struct {
	dir, path, name, sha256 string
}

// writeBinary puts the bytes into a new file of a new directory that nobody else can enter.
func writeBinary(runDir string, p registry.Plugin) (*binary, error) {
	dir, err := os.MkdirTemp(runDir, dirPrefix) // 0700
	if err != nil {
		return nil, fmt.Errorf("adapter directory: %w", err)
	}
	b := &binary{dir: dir, path: filepath.Join(dir, p.Manifest.Name), name: p.Manifest.Name, sha256: p.SHA256}
	if err := b.write(p.Bytes); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("adapter file: %w", err)
	}
	return b, nil
}

func (b *binary) write(data []byte) error {
	// A fork anywhere in this process would carry the writable descriptor into a child until it
	// execs, and a file open for writing cannot be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(b.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o500)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, bytes.NewReader(data)); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// open returns a descriptor of the file after hashing what it reads. Whoever executes that
// descriptor executes what was hashed.
func (b *binary) open() (*os.File, error) {
	f, err := os.OpenFile(b.path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("adapter file: %w", err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		f.Close()
		return nil, fmt.Errorf("adapter file: %w", err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != b.sha256 {
		f.Close()
		return nil, reason.New(writv1.Reason_REASON_PLUGIN_DIGEST, "adapter %s: expected sha256 %s, found %s", b.name, b.sha256, got).
			WithNext("Run `make build` to build the plugins and the binary that pins them together.")
	}
	return f, nil
}

// removeLeftovers clears what a killed supervisor could not.
func removeLeftovers(runDir string) error {
	entries, err := os.ReadDir(runDir)
	if err != nil {
		return fmt.Errorf("adapter directory: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), dirPrefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(runDir, e.Name())); err != nil {
			return fmt.Errorf("adapter directory: %w", err)
		}
	}
	return nil
}
