package daemon

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/writ-kernel/writ/host/wasm"
)

// pool is shared by the tests of this package, which compile the same modules.
var pool = sync.OnceValue(func() *wasm.Pool { return wasm.NewPool(wasm.Config{}) })

func TestMain(m *testing.M) {
	if wasm.WorkerMain() {
		return
	}
	code := m.Run()
	pool().Close()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
