//go:build unix

package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// State says how far an output got.
type State string

// States of an output, by what is on disk under its reservation ID.
const (
	StateNone       State = "none"       // nothing
	StateIncomplete State = "incomplete" // cut short: RemoveStaging, then write anew if that is allowed
	StateComplete   State = "complete"   // staged whole: Promote
	StatePromoted   State = "promoted"   // stands under its digest and was just verified: adopt
)

// Found is what a restart learns from a reservation ID. SHA256 and Size are set for StateComplete and
// StatePromoted.
type Found struct {
	State  State
	SHA256 string
	Size   int64
}

// Find looks for the output of a reservation. ARTIFACT_MISMATCH means that something is there which
// Stage and Promote did not leave: a link, a pipe, another mode, or a receipt without its bytes.
func (w *Workspace) Find(owner, id string) (Found, error) {
	w.moving.Lock()
	defer w.moving.Unlock()
	root, found, err := w.find(owner, id)
	if root != nil {
		root.Close()
	}
	return found, err
}

// find leaves the owner's folder open for what its caller does next; it is nil when there is none.
func (w *Workspace) find(owner, id string) (*os.Root, Found, error) {
	none := Found{State: StateNone}
	if err := checkID(id); err != nil {
		return nil, none, err
	}
	root, err := w.owner(owner, false)
	if reason.Is(err, writv1.Reason_REASON_NOT_FOUND) {
		return nil, none, nil
	}
	if err != nil {
		return nil, none, err
	}
	found, err := findIn(root, id)
	return root, found, err
}

func findIn(root *os.Root, id string) (Found, error) {
	staged, err := private(root, bytesName(id))
	if err != nil {
		return Found{}, err
	}
	received, err := private(root, receiptName(id))
	switch {
	case err != nil:
		return Found{}, err
	case !received && !staged:
		return Found{State: StateNone}, nil
	case !received:
		return Found{State: StateIncomplete}, nil
	}
	rec, whole, err := readReceipt(root, id)
	switch {
	case err != nil:
		return Found{}, err
	case !whole:
		return Found{State: StateIncomplete}, nil
	case staged:
		return Found{StateComplete, rec.sha256, rec.size}, nil
	}
	err = verify(root, rec.sha256, rec.sha256, rec.size, io.Discard)
	if reason.Is(err, writv1.Reason_REASON_NOT_FOUND) {
		err = mismatch("the bytes of output %s are gone", id)
	}
	if err != nil {
		return Found{}, err
	}
	return Found{StatePromoted, rec.sha256, rec.size}, nil
}

// private reports that a file of ours stands under the name; anything else there is an error.
func private(root *os.Root, name string) (bool, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fault("look for "+name, err)
	}
	return true, checkFile(name, info)
}

// RemoveStaging removes what an interrupted Stage left and nothing else: complete bytes are CONFLICT,
// and promoted or absent ones need no removal. It must not run beside a Stage of the same ID.
func (w *Workspace) RemoveStaging(owner, id string) error {
	w.moving.Lock()
	defer w.moving.Unlock()
	root, found, err := w.find(owner, id)
	if root != nil {
		defer root.Close()
	}
	switch {
	case err != nil:
		return err
	case found.State == StateComplete:
		return reason.New(writv1.Reason_REASON_CONFLICT, "output %s is complete", id)
	case found.State != StateIncomplete:
		return nil
	}
	return w.remove(root, bytesName(id), receiptName(id))
}

// Forget drops the receipt of a promoted output, once adoption is committed and the digest is known
// without it. Complete bytes that were not promoted are CONFLICT.
func (w *Workspace) Forget(owner, id string) error {
	w.moving.Lock()
	defer w.moving.Unlock()
	root, found, err := w.find(owner, id)
	if root != nil {
		defer root.Close()
	}
	switch {
	case err != nil:
		return err
	case found.State == StateNone:
		return nil
	case found.State != StatePromoted:
		return reason.New(writv1.Reason_REASON_CONFLICT, "output %s is %s, not promoted", id, found.State)
	}
	return w.remove(root, receiptName(id))
}

func (w *Workspace) remove(root *os.Root, names ...string) error {
	for _, name := range names {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault("remove "+name, err)
		}
	}
	return w.syncDir(root, stagingDir)
}
