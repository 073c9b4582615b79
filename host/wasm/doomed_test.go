package wasm

import (
	"context"
	"fmt"
	"os"
	"time"
)

// doomedHost runs a call that never ends and says which process runs it.
func doomedHost(file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := moduleOf(raw)
	p := NewPool(Config{Workers: 1})
	go func() {
		for len(p.pids()) == 0 {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(300 * time.Millisecond) // by now the guest runs
		fmt.Println(p.pids()[0])
	}()
	_, _ = p.Call(context.Background(), m, ask(""), Limits{Wall: time.Minute})
}
