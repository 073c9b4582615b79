package main

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/host/daemon"
)

// openNode opens a data directory with the plugins that were built together with this binary.
func openNode(dir string, log *slog.Logger) (daemon.Node, error) {
	plugins, err := pluginDir()
	if err != nil {
		return nil, err
	}
	return daemon.OpenNode(context.Background(), dir, daemon.Options{Plugins: os.DirFS(plugins), Log: log})
}

// pluginDir is WRIT_PLUGINS or the folder plugins beside the binary itself. Its content is trusted no
// more for lying there: each plugin runs only under its digest.
func pluginDir() (string, error) {
	dir := os.Getenv("WRIT_PLUGINS")
	if dir == "" {
		self, err := os.Executable()
		if err == nil {
			self, err = filepath.EvalSymlinks(self)
		}
		if err != nil {
			return "", reason.New(writv1.Reason_REASON_INTERNAL, "find this program's own place: %w", err)
		}
		dir = filepath.Join(filepath.Dir(self), "plugins")
	}
	if _, err := fs.Stat(os.DirFS(dir), wasm.LockFile); err != nil {
		return "", reason.New(writv1.Reason_REASON_INTERNAL, "no plugins in %s: %v", dir, pathCause(err)).
			WithNext("Run make build, or set WRIT_PLUGINS to the folder that it filled.")
	}
	return dir, nil
}
