package daemon

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

func TestDataDirIsRefusedBeforeAnythingInItIsOpened(t *testing.T) {
	base := t.TempDir()
	mkdir := func(name string, mode os.FileMode) string {
		path := filepath.Join(base, name)
		if err := os.Mkdir(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
		return path
	}
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(base, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	toShared := filepath.Join(base, "to-shared")
	shared := mkdir("shared", 0o770)
	if err := os.Symlink(shared, toShared); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path string
		code reason.Code
	}{
		"no name":                       {"", writv1.Reason_REASON_MISSING_FIELD},
		"a file":                        {file, writv1.Reason_REASON_INVALID_INPUT},
		"below a file":                  {filepath.Join(file, "d"), writv1.Reason_REASON_INVALID_INPUT},
		"a loop of links":               {loop, writv1.Reason_REASON_INVALID_INPUT},
		"writable by the group":         {shared, writv1.Reason_REASON_NOT_OWNER},
		"writable by all":               {mkdir("open", 0o777), writv1.Reason_REASON_NOT_OWNER},
		"writable by others via a link": {toShared, writv1.Reason_REASON_NOT_OWNER},
	} {
		t.Run(name, func(t *testing.T) {
			err := Serve(t.Context(), Config{DataDir: c.path}, func(string) (Node, error) {
				t.Error("a node was opened")
				return nil, os.ErrInvalid
			})
			if got := reason.CodeOf(err); got != c.code {
				t.Errorf("got %v, want %s", err, reason.Name(c.code))
			}
			if _, err := os.Lstat(filepath.Join(c.path, LockName)); c.path != "" && err == nil {
				t.Error("a lock file was made")
			}
		})
	}
}

func TestDataDirOfAnotherUidIsRefusedAlsoToRoot(t *testing.T) {
	if err := checkOwner("d", 1000, 0); !reason.Is(err, writv1.Reason_REASON_NOT_OWNER) {
		t.Errorf("root and a directory of uid 1000: %v", err)
	}
	if err := checkOwner("d", 0, 1000); !reason.Is(err, writv1.Reason_REASON_NOT_OWNER) {
		t.Errorf("uid 1000 and a directory of root: %v", err)
	}
	if err := checkOwner("d", 1000, 1000); err != nil {
		t.Error(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, -1); err != nil {
		t.Fatal(err)
	}
	for name, use := range map[string]func() error{
		"check": func() error { _, err := CheckDataDir(dir); return err },
		"make":  func() error { _, err := MakeDataDir(dir); return err },
		"lock":  func() error { _, err := AcquireLock(dir); return err },
	} {
		if err := use(); !reason.Is(err, writv1.Reason_REASON_NOT_OWNER) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

func TestDataDirIsMadePrivateAndResolvedOnce(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	want := filepath.Join(base, "a", "b")
	if _, err := CheckDataDir(want); !reason.Is(err, writv1.Reason_REASON_NOT_FOUND) {
		t.Errorf("a missing directory: %v", err)
	}
	got, err := MakeDataDir(want)
	if err != nil || got != want {
		t.Fatalf("got %q, %v", got, err)
	}
	for _, dir := range []string{want, filepath.Dir(want)} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", dir, info, err)
		}
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(want, link); err != nil {
		t.Fatal(err)
	}
	if got, err := MakeDataDir(link); err != nil || got != want {
		t.Errorf("through a link: %q, %v", got, err)
	}
}
