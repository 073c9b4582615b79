package daemon

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// peerUID is the uid the process at the other end had when it connected or listened.
func peerUID(conn net.Conn) (uid uint32, known bool, err error) {
	system, ok := conn.(syscall.Conn)
	if !ok {
		return 0, false, errNoDescriptor
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var credentials *unix.Ucred
	controlErr := raw.Control(func(fd uintptr) {
		credentials, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if controlErr != nil {
		return 0, false, controlErr
	}
	if err != nil {
		return 0, false, err
	}
	return credentials.Uid, true, nil
}
