//go:build unix

package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// Verify reads an artifact back and checks everything adoption rests on: regular file, mode 0600,
// own uid, one name, size, SHA-256. A missing file is NOT_FOUND, any other difference is
// ARTIFACT_MISMATCH. It changes nothing; whoever asked decides on Quarantine.
func (w *Workspace) Verify(owner, sha256 string, size int64) error {
	if err := checkDigest(sha256); err != nil {
		return err
	}
	root, err := w.owner(owner, false)
	if err != nil {
		return err
	}
	defer root.Close()
	return verify(root, sha256, sha256, size, io.Discard)
}

// Read is an artifact's bytes, verified like Verify through the one descriptor they are read from.
// More than max bytes are TOO_LARGE and none is returned.
func (w *Workspace) Read(owner, sha256 string, max int64) ([]byte, error) {
	if err := checkDigest(sha256); err != nil {
		return nil, err
	}
	root, err := w.owner(owner, false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, info, err := openFile(root, sha256)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > max {
		return nil, reason.New(writv1.Reason_REASON_TOO_LARGE, "artifact %s has %d bytes, %d may be read", sha256, info.Size(), max)
	}
	var b bytes.Buffer
	b.Grow(int(info.Size()))
	if err := check(f, sha256, sha256, info.Size(), &b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func verify(root *os.Root, name, want string, size int64, into io.Writer) error {
	f, _, err := openFile(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return check(f, name, want, size, into)
}

// check reads f to its end, at most one byte beyond size, and compares size and digest.
func check(f *os.File, name, want string, size int64, into io.Writer) error {
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, into), io.LimitReader(f, size+1))
	if err != nil {
		return fault("read "+name, err)
	}
	if n != size {
		return mismatch("%s does not have the %d bytes it should have", name, size)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return mismatch("%s has SHA-256 %s, not %s", name, got, want)
	}
	return nil
}
