package wasm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/writ-kernel/writ/abi/canon"
	abi "github.com/writ-kernel/writ/abi/wasm"
	"github.com/writ-kernel/writ/abi/wasm/section"
	"github.com/writ-kernel/writ/registry/registrytest"
)

// hostMode makes the test binary a host that is about to be killed.
const hostMode = "WRIT_TEST_DOOMED_HOST"

func TestMain(m *testing.M) {
	if WorkerMain() {
		return
	}
	if module := os.Getenv(hostMode); module != "" {
		doomedHost(module)
		return
	}
	dir, err := os.MkdirTemp("", "wasm")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

var scratch string // compiled code and fixtures, shared by the tests of one run

func newPool(t testing.TB, c Config) *Pool {
	t.Helper()
	if c.CacheDir == "" {
		c.CacheDir = filepath.Join(scratch, "cache")
	}
	p := NewPool(c)
	t.Cleanup(p.Close)
	return p
}

func textModule(t testing.TB) Module { return registrytest.Load(t, abi.KindNormalizer, "text.v1") }

var buildHostile = sync.OnceValues(func() ([]byte, error) {
	out := filepath.Join(scratch, "hostile.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", out, "./testdata/hostile")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, output)
	}
	return os.ReadFile(out)
})

func hostileModule(t testing.TB) Module {
	t.Helper()
	raw, err := buildHostile()
	if err != nil {
		t.Fatal(err)
	}
	return moduleOf(raw)
}

// moduleOf vouches for bytes, as a registry would.
func moduleOf(raw []byte) Module {
	manifest := abi.Manifest{ABI: abi.ABI, Kind: abi.KindReader, Name: "hostile", Version: "1"}
	section, err := canon.Marshal(manifest)
	if err != nil {
		panic(err)
	}
	raw = appendSection(raw, section)
	return Module{Manifest: manifest, SHA256: canon.Digest(raw), Bytes: raw}
}

func appendSection(raw, data []byte) []byte {
	return section.Append(raw, abi.ManifestSection, data)
}
