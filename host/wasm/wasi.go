package wasm

import (
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// WASI error numbers.
const (
	errnoSuccess = 0
	errnoBadFD   = 8
	errnoFault   = 21
	errnoInval   = 28
	errnoNoSys   = 52
)

// What the fixed clocks show when an instance starts, in nanoseconds: 2000-01-01T00:00:00Z, and one
// second, because runtimes take a monotonic time of zero for a broken clock.
const (
	realStart      = 946684800_000000000
	monotonicStart = 1_000000000
)

// wasiImports are Writ's own answers to the names that language runtimes ask for. There are no
// arguments, no environment, no files and no sockets; descriptor 2 is the log; the clock stands
// still but for sleeping; randomness is a function of the input.
var wasiImports = map[string]hostFunction{
	"args_get":                deny(errnoSuccess, i32, i32),
	"args_sizes_get":          wasi(zeroSizes, i32, i32),
	"environ_get":             deny(errnoSuccess, i32, i32),
	"environ_sizes_get":       wasi(zeroSizes, i32, i32),
	"clock_res_get":           wasi(clockRes, i32, i32),
	"clock_time_get":          wasi(clockTime, i32, i64, i32),
	"fd_advise":               deny(errnoBadFD, i32, i64, i64, i32),
	"fd_allocate":             deny(errnoBadFD, i32, i64, i64),
	"fd_close":                deny(errnoBadFD, i32),
	"fd_datasync":             deny(errnoBadFD, i32),
	"fd_fdstat_get":           deny(errnoBadFD, i32, i32),
	"fd_fdstat_set_flags":     deny(errnoBadFD, i32, i32),
	"fd_fdstat_set_rights":    deny(errnoBadFD, i32, i64, i64),
	"fd_filestat_get":         deny(errnoBadFD, i32, i32),
	"fd_filestat_set_size":    deny(errnoBadFD, i32, i64),
	"fd_filestat_set_times":   deny(errnoBadFD, i32, i64, i64, i32),
	"fd_pread":                deny(errnoBadFD, i32, i32, i32, i64, i32),
	"fd_prestat_get":          deny(errnoBadFD, i32, i32),
	"fd_prestat_dir_name":     deny(errnoBadFD, i32, i32, i32),
	"fd_pwrite":               deny(errnoBadFD, i32, i32, i32, i64, i32),
	"fd_read":                 deny(errnoBadFD, i32, i32, i32, i32),
	"fd_readdir":              deny(errnoBadFD, i32, i32, i32, i64, i32),
	"fd_renumber":             deny(errnoBadFD, i32, i32),
	"fd_seek":                 deny(errnoBadFD, i32, i64, i32, i32),
	"fd_sync":                 deny(errnoBadFD, i32),
	"fd_tell":                 deny(errnoBadFD, i32, i32),
	"fd_write":                wasi(fdWrite, i32, i32, i32, i32),
	"path_create_directory":   deny(errnoBadFD, i32, i32, i32),
	"path_filestat_get":       deny(errnoBadFD, i32, i32, i32, i32, i32),
	"path_filestat_set_times": deny(errnoBadFD, i32, i32, i32, i32, i64, i64, i32),
	"path_link":               deny(errnoBadFD, i32, i32, i32, i32, i32, i32, i32),
	"path_open":               deny(errnoBadFD, i32, i32, i32, i32, i32, i64, i64, i32, i32),
	"path_readlink":           deny(errnoBadFD, i32, i32, i32, i32, i32, i32),
	"path_remove_directory":   deny(errnoBadFD, i32, i32, i32),
	"path_rename":             deny(errnoBadFD, i32, i32, i32, i32, i32, i32),
	"path_symlink":            deny(errnoBadFD, i32, i32, i32, i32, i32),
	"path_unlink_file":        deny(errnoBadFD, i32, i32, i32),
	"poll_oneoff":             wasi(pollOneoff, i32, i32, i32, i32),
	"proc_exit":               {[]api.ValueType{i32}, nil, procExit},
	"proc_raise":              deny(errnoNoSys, i32),
	"random_get":              wasi(randomGet, i32, i32),
	"sched_yield":             deny(errnoSuccess),
	"sock_accept":             deny(errnoBadFD, i32, i32, i32),
	"sock_recv":               deny(errnoBadFD, i32, i32, i32, i32, i32, i32),
	"sock_send":               deny(errnoBadFD, i32, i32, i32, i32, i32),
	"sock_shutdown":           deny(errnoBadFD, i32, i32),
}

func deny(errno uint64, params ...api.ValueType) hostFunction {
	return wasi(func(*guestCall, api.Memory, []uint64) uint64 { return errno }, params...)
}

func wasi(f func(c *guestCall, mem api.Memory, args []uint64) uint64, params ...api.ValueType) hostFunction {
	return hostFunction{params, []api.ValueType{i32}, func(c *guestCall, mem api.Memory, stack []uint64) {
		stack[0] = f(c, mem, stack)
	}}
}

func procExit(_ *guestCall, _ api.Memory, stack []uint64) { panic(sys.NewExitError(uint32(stack[0]))) }

func zeroSizes(_ *guestCall, mem api.Memory, args []uint64) uint64 {
	if !mem.WriteUint32Le(uint32(args[0]), 0) || !mem.WriteUint32Le(uint32(args[1]), 0) {
		return errnoFault
	}
	return errnoSuccess
}

func clockRes(_ *guestCall, mem api.Memory, args []uint64) uint64 {
	if uint32(args[0]) > 1 {
		return errnoInval
	}
	if !mem.WriteUint64Le(uint32(args[1]), 1) {
		return errnoFault
	}
	return errnoSuccess
}

func clockTime(c *guestCall, mem api.Memory, args []uint64) uint64 {
	now, ok := c.now(uint32(args[0]))
	if !ok {
		return errnoInval
	}
	if !mem.WriteUint64Le(uint32(args[2]), now) {
		return errnoFault
	}
	return errnoSuccess
}

// now reads clock 0, real time, or 1, monotonic time.
func (c *guestCall) now(clock uint32) (uint64, bool) {
	switch clock {
	case 0:
		return realStart + c.clock, true
	case 1:
		return monotonicStart + c.clock, true
	}
	return 0, false
}

func randomGet(c *guestCall, mem api.Memory, args []uint64) uint64 {
	view, ok := mem.Read(uint32(args[0]), uint32(args[1]))
	if !ok {
		return errnoFault
	}
	_, _ = c.random.Read(view)
	return errnoSuccess
}

func fdWrite(c *guestCall, mem api.Memory, args []uint64) uint64 {
	if uint32(args[0]) != 2 {
		return errnoBadFD
	}
	vectors, ok := mem.Read(uint32(args[1]), 8*min(uint32(args[2]), 1024))
	if !ok {
		return errnoFault
	}
	written := uint32(0)
	for ; len(vectors) >= 8; vectors = vectors[8:] {
		view, ok := mem.Read(binary.LittleEndian.Uint32(vectors), binary.LittleEndian.Uint32(vectors[4:]))
		if !ok {
			return errnoFault
		}
		c.writeLog(view)
		written += uint32(len(view))
	}
	if !mem.WriteUint32Le(uint32(args[3]), written) {
		return errnoFault
	}
	return errnoSuccess
}
