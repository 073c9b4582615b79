package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
)

const (
	// SocketName is the socket in the data directory.
	SocketName = "writ.sock"
	// PointerName is the file that holds the socket's path when it lies elsewhere.
	PointerName = "writ.sock.path"
	// MaxSocketPath keeps clear of the 104 bytes that the strictest system allows in an address.
	MaxSocketPath = 100
)

// SocketPath is where the socket of a checked data directory lies, whether or not it answers.
func SocketPath(dir string) (string, error) {
	direct := filepath.Join(dir, SocketName)
	if len(direct) <= MaxSocketPath {
		return direct, nil
	}
	file, err := os.OpenFile(filepath.Join(dir, PointerName), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxSocketPath+2))
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(string(text), "\n")
	if !filepath.IsAbs(path) || len(path) > MaxSocketPath {
		return "", reason.New(writv1.Reason_REASON_INTERNAL, "%s does not name a socket", PointerName)
	}
	return path, nil
}

// DialSocket connects to the process that holds a checked data directory. An error that no one
// serves matches fs.ErrNotExist or ECONNREFUSED; see Unserved.
func DialSocket(ctx context.Context, dir string) (net.Conn, error) {
	path, err := SocketPath(dir)
	if err != nil {
		return nil, err
	}
	// A stale pointer may name a path that someone else took since.
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || info.Mode().Type() != fs.ModeSocket || int64(stat.Uid) != int64(os.Geteuid()) {
		return nil, reason.Field(writv1.Reason_REASON_NOT_OWNER, fieldData, "%s is not a socket of this uid", path)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	uid, known, err := peerUID(conn)
	if err != nil || (known && int64(uid) != int64(os.Geteuid())) {
		conn.Close()
		return nil, reason.Field(writv1.Reason_REASON_NOT_OWNER, fieldData, "%s is served by another uid", path)
	}
	return conn, nil
}

// Unserved reports that a dial failed because no process serves the directory.
func Unserved(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// socket is the listening end, owned by the holder of the lock.
type socket struct {
	net.Listener
	path    string
	pointer string // empty when the socket lies in the data directory
	private string // a directory made for this socket alone
}

// listenSocket must be called under the lock: only that makes a leftover socket stale.
func listenSocket(ctx context.Context, dir string) (*socket, error) {
	s := &socket{path: filepath.Join(dir, SocketName)}
	if len(s.path) > MaxSocketPath {
		if err := s.moveOut(dir); err != nil {
			s.remove()
			return nil, err
		}
	}
	if err := removeStale(s.path); err != nil {
		s.remove()
		return nil, err
	}
	// Where the system takes a new socket's mode from its descriptor it is private from the first
	// moment; elsewhere from the chmod on. Peers are checked by uid besides.
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = unix.Fchmod(int(fd), 0o600) })
	}}
	listener, err := config.Listen(ctx, "unix", s.path)
	if err != nil {
		s.remove()
		return nil, fault("listen on "+s.path, err)
	}
	s.Listener = listener
	if err := os.Chmod(s.path, 0o600); err != nil {
		listener.Close()
		s.remove()
		return nil, fault("make the socket private", err)
	}
	return s, nil
}

// moveOut chooses a short path for the socket and leaves a pointer to it in the data directory.
func (s *socket) moveOut(dir string) error {
	sum := sha256.Sum256([]byte(dir))
	s.path = filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "writ", hex.EncodeToString(sum[:8])+".sock")
	if !filepath.IsAbs(s.path) || len(s.path) > MaxSocketPath || makePrivate(filepath.Dir(s.path)) != nil {
		private, err := os.MkdirTemp("", "writ-")
		if err != nil {
			return fault("make a directory for the socket", err)
		}
		s.private, s.path = private, filepath.Join(private, SocketName)
		if len(s.path) > MaxSocketPath {
			return reason.Field(writv1.Reason_REASON_INVALID_INPUT, fieldData, "no place for a socket: %s is longer than %d bytes", s.path, MaxSocketPath).
				WithNext("Set XDG_RUNTIME_DIR or TMPDIR to a short path.")
		}
	}
	s.pointer = filepath.Join(dir, PointerName)
	staged := s.pointer + ".new"
	if err := os.Remove(staged); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault("write the socket pointer", err)
	}
	file, err := os.OpenFile(staged, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault("write the socket pointer", err)
	}
	_, writeErr := file.WriteString(s.path + "\n")
	if err := errors.Join(writeErr, file.Close()); err != nil {
		return fault("write the socket pointer", err)
	}
	if err := os.Rename(staged, s.pointer); err != nil {
		return fault("write the socket pointer", err)
	}
	return nil
}

func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	return checkDataDirInfo(dir, info)
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault("look at the socket", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, fieldData, "%s is in the way and is not a socket", path).WithNext("Move it elsewhere.")
	}
	if err := os.Remove(path); err != nil {
		return fault("remove a stale socket", err)
	}
	return nil
}

// remove takes away what listenSocket put down, except the socket, which Close takes with it. It is
// best effort: whatever stays is recognized as stale under the next lock.
func (s *socket) remove() {
	if s.pointer != "" {
		_ = os.Remove(s.pointer)
	}
	if s.private != "" {
		_ = os.RemoveAll(s.private)
	}
}
