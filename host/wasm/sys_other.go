//go:build unix && !linux

package wasm

import (
	"os"
	"syscall"
)

const mapNoReserve = 0

func executable() (string, error) { return os.Executable() }

// A worker has its own process group, so that a terminal's interrupt does not reach it. It ends by
// itself when its socket closes.
func workerAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
