package daemon

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/writ-kernel/writ/host/wasm"
	"github.com/writ-kernel/writ/registry/registrytest"
)

// workers are shared by the tests of this package, which compile the same modules.
var workers struct {
	once sync.Once
	pool *wasm.Pool
}

func pool(t testing.TB) *wasm.Pool {
	workers.once.Do(func() { workers.pool = wasm.NewPool(wasm.Config{Executable: registrytest.Writ(t)}) })
	return workers.pool
}

func TestMain(m *testing.M) {
	code := m.Run()
	if workers.pool != nil {
		workers.pool.Close()
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
