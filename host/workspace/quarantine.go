//go:build unix

package workspace

import (
	"fmt"
	"os"
	"path"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
)

// Quarantine moves what stands under a digest, or under a reservation ID in staging, aside as it is:
// a link is moved and not followed, a directory with all it holds. why is a short lower-case word
// that becomes part of the new name. It returns where things went, relative to the artifacts folder;
// NOT_FOUND means that nothing stood there.
func (w *Workspace) Quarantine(owner, name, why string) ([]string, error) {
	names := []string{name}
	if !canon.IsDigest(name) {
		if err := checkID(name); err != nil {
			return nil, err
		}
		names = []string{bytesName(name), receiptName(name)}
	}
	if !whyPattern.MatchString(why) {
		return nil, reason.Field(writv1.Reason_REASON_INVALID_INPUT, "why", "%.80q does not match %s", why, whyPattern)
	}
	w.moving.Lock()
	defer w.moving.Unlock()
	root, err := w.owner(owner, false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var moved []string
	for _, n := range names {
		to, err := w.moveAside(root, n, why)
		if reason.Is(err, writv1.Reason_REASON_NOT_FOUND) {
			continue
		}
		if err != nil {
			return moved, err
		}
		moved = append(moved, path.Join(owner, to))
	}
	if len(moved) == 0 {
		return nil, reason.New(writv1.Reason_REASON_NOT_FOUND, "nothing stands under %s", name)
	}
	return moved, nil
}

// moveAside renames, which follows no link in the last place, to a name that is still free.
func (w *Workspace) moveAside(root *os.Root, name, why string) (string, error) {
	if there, err := exists(root, name); err != nil {
		return "", err
	} else if !there {
		return "", reason.New(writv1.Reason_REASON_NOT_FOUND, "nothing stands under %s", name)
	}
	dir, err := w.openDir(root, quarantineDir, true)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	for n := 1; ; n++ {
		free := fmt.Sprintf("%s.%s.%d", path.Base(name), why, n)
		if taken, err := exists(dir, free); err != nil {
			return "", err
		} else if taken {
			continue
		}
		to := path.Join(quarantineDir, free)
		if err := root.Rename(name, to); err != nil {
			return "", fault("move "+name+" aside", err)
		}
		if err := w.syncDir(dir, "."); err != nil {
			return "", err
		}
		return to, w.syncDir(root, path.Dir(name))
	}
}
