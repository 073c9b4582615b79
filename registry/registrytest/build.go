package registrytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/registry"
)

var built sync.Map // extras, joined → func() (string, error)

// Build compiles the plugins of this checkout, once per process and quickly when nothing changed,
// and returns the folder that holds them and their lock. Each extra is kind:name=importpath and is
// added to the lock; every set of extras has a folder of its own. Several test processes may call it
// at the same time.
func Build(t testing.TB, extra ...string) string {
	t.Helper()
	key := strings.Join(extra, "\n")
	once, _ := built.LoadOrStore(key, sync.OnceValues(func() (string, error) { return build(key, extra) }))
	dir, err := once.(func() (string, error))()
	if err != nil {
		t.Fatalf("build plugins: %v", err)
	}
	return dir
}

// Writ builds the plugins and the writ binary that is pinned to them, and returns the binary's path. A
// test of a package that runs workers or adapters under the race detector lets this binary be the
// worker, because the detector would slow down what the sandbox bounds by wall time.
func Writ(t testing.TB, extra ...string) string {
	t.Helper()
	dir := Build(t, append([]string{withWrit}, extra...)...)
	return filepath.Join(filepath.Dir(dir), "writ")
}

// withWrit stands among the extras of a build that also wants the binary.
const withWrit = "-writ"

// Open builds the plugins and opens their registry.
func Open(t testing.TB, extra ...string) *registry.Registry {
	t.Helper()
	r, err := registry.Open(os.DirFS(Build(t, extra...)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Load builds the plugins and loads one of them.
func Load(t testing.TB, kind, name string) registry.Plugin {
	t.Helper()
	p, err := Open(t).Load(kind, name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func build(key string, extra []string) (string, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	out := filepath.Join(root, ".cache", "plugins")
	if key != "" {
		out += "-" + canon.Digest([]byte(key))[:8]
	}
	args := []string{"run", "./plugins/build", "-out", out}
	for _, e := range extra {
		if e == withWrit {
			args = append(args, e)
			continue
		}
		args = append(args, "-extra", e)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", &buildError{err, string(output)}
	}
	return filepath.Join(out, "plugins"), nil
}

type buildError struct {
	err    error
	output string
}

func (e *buildError) Error() string { return e.err.Error() + "\n" + e.output }
func (e *buildError) Unwrap() error { return e.err }
