package daemon

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// LockName is the file in the data directory whose advisory lock makes a process the holder. It
// keeps the holder's process ID and is never deleted.
const LockName = "daemon.lock"

// Lock is the hold of one process on one data directory. It ends with the process at the latest.
type Lock struct {
	file *os.File
}

// AcquireLock takes the lock of a checked data directory or refuses with reason store_held.
func AcquireLock(dir string) (*Lock, error) {
	// The directory is pinned and checked again, so that what is locked is what was checked.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, pathRefusal(dir, err)
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return nil, pathRefusal(dir, err)
	}
	if err := checkDataDirInfo(dir, info); err != nil {
		return nil, err
	}
	file, err := root.OpenFile(LockName, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fault("open the lock file", err)
	}
	if err := lockFile(dir, file); err != nil {
		file.Close()
		return nil, err
	}
	return &Lock{file: file}, nil
}

func lockFile(dir string, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fault("read the lock file", err)
	}
	if !info.Mode().IsRegular() {
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, fieldData, "%s in %s is not a regular file", LockName, dir)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return reason.Field(writv1.Reason_REASON_STORE_HELD, fieldData, "%s is held by %s", dir, holder(file)).
			WithNext("Wait for it to end; commands reach it through its socket as soon as it serves.")
	}
	if err != nil {
		return fault("lock the data directory", err)
	}
	if err := file.Truncate(0); err != nil {
		return fault("write the lock file", err)
	}
	if _, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fault("write the lock file", err)
	}
	return nil
}

func holder(file *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 32))
	pid, parseErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || parseErr != nil || pid <= 0 {
		return "another process" // it has the lock and has not written its ID yet
	}
	return "pid " + strconv.Itoa(pid)
}

// Release gives the directory up. The process ID goes first, so that no one reads that of a
// process which no longer holds it.
func (l *Lock) Release() error {
	truncateErr := l.file.Truncate(0)
	return errors.Join(truncateErr, l.file.Close())
}
