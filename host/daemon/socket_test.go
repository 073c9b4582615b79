package daemon

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

// shortDir is a data directory whose socket path fits whatever TMPDIR and the test's name are.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func dialable(t *testing.T, dir string) bool {
	t.Helper()
	conn, err := DialSocket(context.Background(), dir)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func TestSocketIsPrivateAndGoesWithItsListener(t *testing.T) {
	dir := shortDir(t)
	s, err := listenSocket(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, SocketName)); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if !dialable(t, dir) {
		t.Error("does not answer")
	}
	s.Close()
	s.remove()
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
	if _, err := DialSocket(t.Context(), dir); !Unserved(err) {
		t.Errorf("got %v, want unserved", err)
	}
}

func TestStaleSocketIsReplacedAndAnythingElseIsNot(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, SocketName)
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false) // as a killed process leaves it
	stale.Close()
	if _, err := DialSocket(t.Context(), dir); !Unserved(err) {
		t.Errorf("a stale socket: %v", err)
	}
	s, err := listenSocket(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listenSocket(t.Context(), dir); !reason.Is(err, writv1.Reason_REASON_INVALID_INPUT) {
		t.Errorf("a file in the way: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file was touched: %q %v", text, err)
	}
	if _, err := DialSocket(t.Context(), dir); !reason.Is(err, writv1.Reason_REASON_NOT_OWNER) {
		t.Errorf("dialling a file: %v", err)
	}
}

func TestLongPathMovesTheSocketAndLeavesAPointer(t *testing.T) {
	for name, runtimeDir := range map[string]bool{"to the runtime directory": true, "to a private temporary directory": false} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(shortDir(t), strings.Repeat("d", MaxSocketPath))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			elsewhere := shortDir(t)
			if runtimeDir {
				t.Setenv("XDG_RUNTIME_DIR", elsewhere)
			} else {
				t.Setenv("XDG_RUNTIME_DIR", "")
				t.Setenv("TMPDIR", elsewhere)
			}
			if _, err := DialSocket(t.Context(), dir); !Unserved(err) {
				t.Errorf("without a pointer: %v", err)
			}
			s, err := listenSocket(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			path, err := SocketPath(dir)
			if err != nil || !strings.HasPrefix(path, elsewhere) || !dialable(t, dir) {
				t.Errorf("socket at %q, %v", path, err)
			}
			if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("its directory: %v %v", info, err)
			}
			if info, err := os.Stat(filepath.Join(dir, PointerName)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("its pointer: %v %v", info, err)
			}
			s.Close()
			s.remove()
			if entries, _ := os.ReadDir(dir); len(entries) != 0 {
				t.Errorf("left behind: %v", entries)
			}
		})
	}
}

func TestPointerIsNotTrustedBlindly(t *testing.T) {
	dir := filepath.Join(shortDir(t), strings.Repeat("d", MaxSocketPath))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	pointer := filepath.Join(dir, PointerName)
	for _, text := range []string{"", "relative.sock\n", "/" + strings.Repeat("x", 200), "/etc/hostname\n"} {
		if err := os.WriteFile(pointer, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if conn, err := DialSocket(t.Context(), dir); err == nil {
			conn.Close()
			t.Errorf("%q was dialled", text)
		}
	}
}
