package badger

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

func errHeld(dir string) error {
	held := reason.New(writv1.Reason_REASON_STORE_HELD, "store is held by pid %s", holder(dir))
	held.Retryable = true
	return held.WithNext("Talk to the running daemon, or stop that process. Do not remove the LOCK file.")
}

// openError says in the reader's terms why a directory did not open.
func openError(dir string, err error) error {
	// Badger flattens the system's error to text; this is how it begins when the lock was taken
	// between verify and Badger.
	if strings.HasPrefix(err.Error(), "Cannot acquire directory lock") {
		return errHeld(dir)
	}
	return err
}

// holder reads the pid that the holder noted beside its lock. The note is not the lock: it is only
// believed because the lock was just found taken.
func holder(dir string) string {
	note, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	if err != nil {
		return "unknown"
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(note)))
	if err != nil || pid <= 0 {
		return "unknown"
	}
	return strconv.Itoa(pid)
}
