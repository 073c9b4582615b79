package daemon

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

func TestLockHasOneHolderAndTellsItsPid(t *testing.T) {
	dir := t.TempDir()
	first, err := AcquireLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = AcquireLock(dir)
	if !reason.Is(err, writv1.Reason_REASON_STORE_HELD) || !strings.Contains(err.Error(), "pid "+strconv.Itoa(os.Getpid())) {
		t.Errorf("got %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, LockName))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 0 {
		t.Errorf("the lock file must stay, private and empty: %v %v", info, err)
	}
	again, err := AcquireLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestLockOfAnUnreadableHolderIsStillHeld(t *testing.T) {
	dir := t.TempDir()
	lock, err := AcquireLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	for _, text := range []string{"", "x", "-4\n", strings.Repeat("9", 40)} {
		if err := os.WriteFile(filepath.Join(dir, LockName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := AcquireLock(dir); !reason.Is(err, writv1.Reason_REASON_STORE_HELD) || !strings.Contains(err.Error(), "another process") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestLockFileMustBeRegularAndInside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "victim")
	for name, place := range map[string]func(path string) error{
		"a link out":  func(path string) error { return os.Symlink(outside, path) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		dir := t.TempDir()
		if err := place(filepath.Join(dir, LockName)); err != nil {
			t.Fatal(err)
		}
		if lock, err := AcquireLock(dir); err == nil {
			lock.Release()
			t.Errorf("%s was locked", name)
		}
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a file was made outside")
	}
}
