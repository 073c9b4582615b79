package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// fieldData is the name by which refusals call the data directory.
const fieldData = "data"

// CheckDataDir resolves path once, through symbolic links, and checks the directory it names
// without opening anything: it must belong to the effective uid, the superuser included, and no one
// else may write to it. It returns the absolute resolved path. A path where nothing exists is
// refused with reason not_found.
func CheckDataDir(path string) (string, error) {
	if path == "" {
		return "", reason.Field(writv1.Reason_REASON_MISSING_FIELD, fieldData, "no data directory is named").WithNext("Give --data DIR or set WRIT_DATA.")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fault("resolve the data directory", err)
	}
	if _, err := os.Stat(absolute); err != nil { // says more precisely than EvalSymlinks what is wrong
		return "", pathRefusal(absolute, err)
	}
	resolved, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return "", pathRefusal(absolute, err)
	}
	info, err := os.Lstat(resolved)
	if err != nil {
		return "", pathRefusal(absolute, err)
	}
	if err := checkDataDirInfo(absolute, info); err != nil {
		return "", err
	}
	return resolved, nil
}

// MakeDataDir is CheckDataDir after creating a private directory where nothing exists.
func MakeDataDir(path string) (string, error) {
	resolved, err := CheckDataDir(path)
	if !reason.Is(err, writv1.Reason_REASON_NOT_FOUND) {
		return resolved, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", pathRefusal(path, err)
	}
	return CheckDataDir(path)
}

func checkDataDirInfo(path string, info fs.FileInfo) error {
	if !info.IsDir() {
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, fieldData, "%s is not a directory", path).WithNext("Name a directory.")
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return reason.New(writv1.Reason_REASON_INTERNAL, "this system does not tell who owns a file")
	}
	if err := checkOwner(path, stat.Uid, os.Geteuid()); err != nil {
		return err
	}
	if info.Mode().Perm()&0o022 != 0 {
		return reason.Field(writv1.Reason_REASON_NOT_OWNER, fieldData, "%s can be written by others (mode %#o)", path, info.Mode().Perm()).WithNext("Run chmod 700 on it.")
	}
	return nil
}

func checkOwner(path string, owner uint32, euid int) error {
	if int64(owner) == int64(euid) {
		return nil
	}
	return reason.Field(writv1.Reason_REASON_NOT_OWNER, fieldData, "%s belongs to uid %d and this process runs as uid %d", path, owner, euid).
		WithNext("Run the command as the owner, or name another directory with --data.")
}

func pathRefusal(path string, err error) error {
	var code reason.Code
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = writv1.Reason_REASON_NOT_FOUND
	case errors.Is(err, fs.ErrPermission):
		code = writv1.Reason_REASON_NOT_OWNER
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, fs.ErrInvalid), errors.Is(err, fs.ErrExist):
		code = writv1.Reason_REASON_INVALID_INPUT
	default:
		return fault("reach the data directory", err)
	}
	return &reason.Error{Code: code, Field: fieldData, Detail: path + ": " + cause(err).Error(), Next: "Name a directory of your own with --data.", Err: err}
}

// cause drops the path and system call that a PathError repeats.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

func fault(what string, err error) error {
	return reason.New(writv1.Reason_REASON_INTERNAL, "%s: %w", what, err)
}
