//go:build unix

package workspace

import (
	"io"
	"os"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// Promote moves complete staged bytes to the name of their digest and returns once that is durable.
// It may be repeated after a crash or an error. Bytes that the owner already has are kept once.
//
// ARTIFACT_MISMATCH means that the receipt speaks of other bytes, that the staged bytes are not what
// it says, or that something else stands under the digest. In the last two cases what does not match
// is in quarantine afterwards; good staged bytes stay staged.
func (w *Workspace) Promote(owner, id, sha256 string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if err := checkDigest(sha256); err != nil {
		return err
	}
	w.moving.Lock()
	defer w.moving.Unlock()
	root, err := w.owner(owner, false)
	if err != nil {
		return err
	}
	defer root.Close()
	rec, whole, err := readReceipt(root, id)
	if err != nil {
		return err
	}
	if !whole || rec.sha256 != sha256 {
		return mismatch("output %s is incomplete or not %s", id, sha256)
	}
	staged, err := exists(root, bytesName(id))
	if err != nil {
		return err
	}
	if staged {
		if err := w.verifyOrQuarantine(root, bytesName(id), rec, receiptName(id)); err != nil {
			return err
		}
	}
	if err := w.moveBytes(root, id, rec, staged); err != nil {
		return err
	}
	if err := w.syncDir(root, "."); err != nil {
		return err
	}
	return w.syncDir(root, stagingDir)
}

func (w *Workspace) moveBytes(root *os.Root, id string, rec receipt, staged bool) error {
	there, err := exists(root, rec.sha256)
	if err != nil {
		return err
	}
	if !there {
		if !staged {
			return mismatch("the bytes of output %s are gone", id)
		}
		return faultIf("promote output", root.Rename(bytesName(id), rec.sha256))
	}
	if err := w.verifyOrQuarantine(root, rec.sha256, rec); err != nil || !staged {
		return err
	}
	return faultIf("drop second copy", root.Remove(bytesName(id)))
}

// verifyOrQuarantine moves a file that is not what the receipt says aside, together with others that
// are of no use without it.
func (w *Workspace) verifyOrQuarantine(root *os.Root, name string, rec receipt, with ...string) error {
	err := verify(root, name, rec.sha256, rec.size, io.Discard)
	if !reason.Is(err, writv1.Reason_REASON_ARTIFACT_MISMATCH) {
		return err
	}
	for _, n := range append([]string{name}, with...) {
		if _, moving := w.moveAside(root, n, "mismatch"); moving != nil {
			return moving
		}
	}
	return err
}
