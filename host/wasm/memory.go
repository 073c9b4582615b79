package wasm

import (
	"fmt"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// arena hands out linear memories in address space that is reserved once. A Go slice would be
// cleared, copied at each growth and collected; reserved pages cost nothing until they are touched.
// A memory comes back zeroed as far as it was ever grown, which is all that a guest could write.
type arena struct {
	free []byte
}

// keep is how much memory is worth clearing by hand; more goes back to the system.
const keep = 8 << 20

func (a *arena) Allocate(uint64, uint64) experimental.LinearMemory {
	m := &linearMemory{arena: a, limit: MaxMemory, all: a.free}
	a.free = nil
	if m.all == nil {
		var err error
		m.all, err = unix.Mmap(-1, 0, MaxMemory, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|mapNoReserve)
		if err != nil {
			panic(fmt.Errorf("reserve linear memory: %w", err))
		}
	}
	return m
}

type linearMemory struct {
	arena *arena
	all   []byte
	limit uint64
	peak  uint64
}

// Reallocate grows within the call's limit; nil makes memory.grow answer -1, as the specification
// of WebAssembly allows.
func (m *linearMemory) Reallocate(size uint64) []byte {
	if size > m.limit {
		return nil
	}
	m.peak = max(m.peak, size)
	return m.all[:size:size]
}

func (m *linearMemory) Free() {
	if m.peak <= keep && m.arena.free == nil {
		clear(m.all[:m.peak])
		m.arena.free = m.all
	} else {
		_ = unix.Munmap(m.all)
	}
	m.all = nil
}
