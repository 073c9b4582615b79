//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// Workspace is the artifacts folder of one data directory. It is safe for concurrent use within the
// one process that holds the data directory.
type Workspace struct {
	root *os.Root

	// moving makes "look, then rename" one step among this process's callers.
	moving sync.Mutex

	syncFile func(*os.File) error // (*os.File).Sync, but for tests of a failing disk
}

// Open opens the artifacts folder dir and makes it if it is missing; its parent must exist. A folder
// that is a symbolic link, of another uid or open to others is refused.
func Open(dir string) (*Workspace, error) {
	parent, base := filepath.Dir(filepath.Clean(dir)), filepath.Base(filepath.Clean(dir))
	above, err := os.OpenRoot(parent)
	if err != nil {
		return nil, fault("open the artifacts folder", err)
	}
	defer above.Close()
	w := &Workspace{syncFile: (*os.File).Sync}
	if w.root, err = w.openDir(above, base, true); err != nil {
		return nil, err
	}
	return w, nil
}

// Close releases the folder.
func (w *Workspace) Close() error { return w.root.Close() }

// Path is where an artifact lies relative to the artifacts folder, for people to read. It says
// nothing about whether the file is there.
func (w *Workspace) Path(owner, sha256 string) string { return path.Join(owner, sha256) }

// owner opens an owner's folder. Without create, a missing one is NOT_FOUND.
func (w *Workspace) owner(owner string, create bool) (*os.Root, error) {
	if err := checkOwner(owner); err != nil {
		return nil, err
	}
	root, err := w.openDir(w.root, owner, create)
	if err != nil {
		return nil, err
	}
	// A link in the place of staging would otherwise be followed by names that go through it.
	for _, sub := range []string{stagingDir, quarantineDir} {
		dir, err := w.openDir(root, sub, create && sub == stagingDir)
		if reason.Is(err, writv1.Reason_REASON_NOT_FOUND) {
			continue
		}
		if err != nil {
			root.Close()
			return nil, err
		}
		dir.Close()
	}
	return root, nil
}

// openDir opens a private directory without following a link in its place. os.Root keeps links
// inside the root but does follow them, so the opened directory is compared with the name itself.
func (w *Workspace) openDir(parent *os.Root, name string, create bool) (*os.Root, error) {
	info, err := parent.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err = parent.Mkdir(name, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			if err = w.syncDir(parent, "."); err == nil {
				info, err = parent.Lstat(name)
			}
		}
	}
	if err != nil {
		return nil, fault("open folder "+name, err)
	}
	if err := checkDir(name, info); err != nil {
		return nil, err
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, fault("open folder "+name, err)
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = mismatch("folder %s was replaced while it was opened", name)
	}
	if err != nil {
		root.Close()
		return nil, fault("open folder "+name, err)
	}
	return root, nil
}

func (w *Workspace) syncDir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return fault("sync folder", err)
	}
	defer d.Close()
	if err := w.syncFile(d); err != nil {
		return fault("sync folder", err)
	}
	return nil
}

func mismatch(format string, args ...any) error {
	return reason.New(writv1.Reason_REASON_ARTIFACT_MISMATCH, format, args...)
}

// fault types what the file system said; an error that has a type keeps it.
func fault(what string, err error) error {
	if _, ok := reason.As(err); ok {
		return err
	}
	code := writv1.Reason_REASON_INTERNAL
	if errors.Is(err, fs.ErrNotExist) {
		code = writv1.Reason_REASON_NOT_FOUND
	}
	return reason.New(code, "%s: %w", what, err)
}

func faultIf(what string, err error) error {
	if err == nil {
		return nil
	}
	return fault(what, err)
}
