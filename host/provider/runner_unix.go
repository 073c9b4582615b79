//go:build unix && !linux

package provider

import (
	"fmt"
	"os"
	"syscall"
)

// executable is the path: no portable way runs an open descriptor. The directory is private.
func executable(f *os.File) string { return f.Name() }

// processAttributes has no parent-death signal to ask for: an adapter outlives a killed host here.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit has no portable form that leaves the process to be reaped.
func awaitExit(int) bool { return false }

func shortPath(path string) (string, func(), error) {
	if len(path) > maxSocketPath {
		return "", nil, fmt.Errorf("socket path of %d bytes, at most %d are possible: use a shorter data directory", len(path), maxSocketPath)
	}
	return path, func() {}, nil
}
