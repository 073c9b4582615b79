package wasm

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const mapNoReserve = unix.MAP_NORESERVE

// executable names the running binary itself, even when its file has been replaced or removed.
func executable() (string, error) { return "/proc/self/exe", nil }

// A worker has its own process group, so that a terminal's interrupt does not reach it, and dies
// with the thread that started it.
func workerAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
