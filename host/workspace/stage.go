//go:build unix

package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// Stage writes r's bytes under a reservation's ID and returns their SHA-256 and size once they are
// durable and recognizable as complete. More than maxBytes is TOO_LARGE. CONFLICT means that
// something already stands under the ID: Find says what, and RemoveStaging clears it if it is
// incomplete. Any other error leaves nothing, or incomplete staging.
func (w *Workspace) Stage(owner, id string, maxBytes int64, r io.Reader) (digest string, size int64, err error) {
	if err := checkID(id); err != nil {
		return "", 0, err
	}
	if maxBytes < 0 {
		return "", 0, reason.Field(writv1.Reason_REASON_INVALID_INPUT, "max_bytes", "%d is negative", maxBytes)
	}
	root, err := w.owner(owner, true)
	if err != nil {
		return "", 0, err
	}
	defer root.Close()
	if there, err := exists(root, receiptName(id)); err != nil {
		return "", 0, err
	} else if there {
		return "", 0, conflict(id)
	}
	rec, err := w.writeBytes(root, id, maxBytes, r)
	if err != nil {
		return "", 0, err
	}
	if err := w.writeReceipt(root, id, rec); err != nil {
		return "", 0, err
	}
	return rec.sha256, rec.size, nil
}

// writeBytes is the first half of Stage: afterwards the bytes are there but not yet complete.
func (w *Workspace) writeBytes(root *os.Root, id string, maxBytes int64, r io.Reader) (receipt, error) {
	h := sha256.New()
	var n int64
	err := w.create(root, bytesName(id), id, func(f io.Writer) (err error) {
		n, err = io.Copy(io.MultiWriter(f, h), io.LimitReader(r, maxBytes))
		if err != nil {
			return err
		}
		// One byte more tells a full output from one that was cut.
		if m, err := io.ReadFull(r, make([]byte, 1)); m > 0 {
			return reason.New(writv1.Reason_REASON_TOO_LARGE, "output %s has more than %d bytes", id, maxBytes)
		} else if err != io.EOF {
			return err
		}
		return nil
	})
	if err != nil {
		return receipt{}, err
	}
	return receipt{hex.EncodeToString(h.Sum(nil)), n}, nil
}

// writeReceipt is the second half: once its directory is synced, the bytes are complete. Its failure
// leaves the bytes, for they are whole and may be all there is of a call that cannot be repeated.
func (w *Workspace) writeReceipt(root *os.Root, id string, r receipt) error {
	if err := w.create(root, receiptName(id), id, func(f io.Writer) error {
		_, err := io.Copy(f, strings.NewReader(r.String()))
		return err
	}); err != nil {
		return err
	}
	return w.syncDir(root, stagingDir)
}

// create makes a new private file, which no existing name can stand in for, and syncs it.
func (w *Workspace) create(root *os.Root, name, id string, write func(io.Writer) error) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return conflict(id)
	}
	if err != nil {
		return fault("create "+name, err)
	}
	err = write(f)
	if err == nil {
		err = w.syncFile(f)
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fault("write "+name, errors.Join(err, root.Remove(name)))
	}
	return nil
}

func conflict(id string) error {
	return reason.New(writv1.Reason_REASON_CONFLICT, "output %s was staged before", id)
}
