//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

func checkDir(name string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return reason.New(writv1.Reason_REASON_INTERNAL, "this system does not tell who owns a file")
	case !info.IsDir():
		return mismatch("folder %s is not a directory but %s", name, kind(info.Mode()))
	case int64(stat.Uid) != int64(os.Geteuid()):
		return reason.New(writv1.Reason_REASON_NOT_OWNER, "folder %s belongs to uid %d", name, stat.Uid)
	case info.Mode().Perm() != 0o700:
		return reason.New(writv1.Reason_REASON_NOT_OWNER, "folder %s has mode %#o, not 0700", name, info.Mode().Perm()).
			WithNext("Run chmod 700 on it.")
	}
	return nil
}

// checkFile holds for every file that is read: what it is, whose it is, and that no other name or
// hand can change it.
func checkFile(name string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return reason.New(writv1.Reason_REASON_INTERNAL, "this system does not tell who owns a file")
	case !info.Mode().IsRegular():
		return mismatch("%s is not a regular file but %s", name, kind(info.Mode()))
	case info.Mode() != 0o600:
		return mismatch("%s has mode %s, not 0600", name, info.Mode())
	case int64(stat.Uid) != int64(os.Geteuid()):
		return mismatch("%s belongs to uid %d", name, stat.Uid)
	case stat.Nlink != 1:
		return mismatch("%s has %d names, not one", name, stat.Nlink)
	}
	return nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a regular file"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// openFile opens a checked file for reading. The name is looked at first because os.Root follows a
// link that stays inside; the descriptor is checked again because the name may have changed since.
// O_NONBLOCK keeps a pipe put there in between from blocking the open.
func openFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	named, err := root.Lstat(name)
	if err != nil {
		return nil, nil, fault("open "+name, err)
	}
	if err := checkFile(name, named); err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fault("open "+name, err)
	}
	opened, err := f.Stat()
	if err == nil {
		err = checkFile(name, opened)
	}
	if err == nil && !os.SameFile(named, opened) {
		err = mismatch("%s was replaced while it was opened", name)
	}
	if err != nil {
		f.Close()
		return nil, nil, fault("open "+name, err)
	}
	return f, opened, nil
}

// exists reports that something stands under the name, whatever it is.
func exists(root *os.Root, name string) (bool, error) {
	_, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fault("look for "+name, err)
	}
	return true, nil
}
