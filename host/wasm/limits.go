package wasm

import (
	"time"

	abi "github.com/writ-kernel/writ/abi/wasm"
)

// Limits bound one call. A zero field means its default.
type Limits struct {
	Wall        time.Duration // 1 s; from sending the call to the whole answer, compiling excluded
	MemoryBytes int64         // 64 MiB of linear memory; at most MaxMemory
	OutputBytes int64         // 4 × body + 64 KiB, header included; at most MaxOutput
	LogBytes    int64         // 4 KiB before escaping; at most MaxLog
}

// Ceilings that no caller can raise.
const (
	MaxInput  = 32 << 20
	MaxMemory = 256 << 20
	MaxOutput = 256 << 20
	MaxLog    = 64 << 10
	maxWall   = time.Minute
)

func (l Limits) withDefaults(body int) Limits {
	set := func(v *int64, def, ceiling int64) {
		if *v <= 0 {
			*v = def
		}
		*v = min(*v, ceiling)
	}
	if l.Wall <= 0 {
		l.Wall = time.Second
	}
	l.Wall = min(l.Wall, maxWall)
	set(&l.MemoryBytes, 64<<20, MaxMemory)
	set(&l.OutputBytes, 4*int64(body)+64<<10, MaxOutput)
	set(&l.LogBytes, 4<<10, MaxLog)
	return l
}

func (l Limits) header() abi.Limits {
	return abi.Limits{
		LogBytes:    l.LogBytes,
		MemoryBytes: l.MemoryBytes,
		OutputBytes: l.OutputBytes,
		WallMillis:  l.Wall.Milliseconds(),
	}
}
