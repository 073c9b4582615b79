package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"
)

// MaxStep is how far the wall clock may run ahead of monotonic time before it is no longer believed.
const MaxStep = 10 * time.Minute

// clockKey holds the latest time that a committed transition was given: 8 bytes, big-endian
// microseconds. It is written in the same engine transaction as the rows that carry such times.
var clockKey = append(append([]byte(nil), system...), "clock"...)

// maxSkew is the largest skew, in microseconds, that a Duration can hold.
const maxSkew = math.MaxInt64 / int64(time.Microsecond)

const clockCost = len("\x00sys/clock") + 8

// ClockStatus says how the wall clock stands to the store's time.
type ClockStatus struct {
	// Adopted is false while the wall clock is more than MaxStep ahead, and thus ignored.
	Adopted bool
	// Skew is wall clock minus monotonic continuation at the latest transition. A negative skew
	// means that the wall clock is behind; the store then goes on with monotonic time.
	Skew time.Duration
}

// timeline turns a host clock into times that only grow. It continues from the time it handed out
// last plus the monotonic time since then, and follows the wall clock when that is ahead by a
// believable step. Continuing from the last time, not from a fixed start, keeps time moving at full
// speed after the wall clock was set back.
type timeline struct {
	clock Clock

	mu     sync.Mutex
	last   int64 // microseconds
	mono   time.Duration
	status ClockStatus
}

// start begins after stored. There is no monotonic time across a restart to judge the wall clock
// by, so it is adopted as it is.
func (t *timeline) start(clock Clock, stored int64) {
	t.clock = clock
	t.last = max(stored, clock.Wall().UnixMicro()-1)
	t.mono = clock.Mono()
	t.status = ClockStatus{Adopted: true}
}

// next is strictly greater than every earlier result and than atLeast.
func (t *timeline) next(atLeast int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	wall, mono := t.clock.Wall().UnixMicro(), t.clock.Mono()
	elapsed := max(0, mono-t.mono).Truncate(time.Microsecond)
	now := t.last + elapsed.Microseconds()
	skew := wall - now
	t.status = ClockStatus{
		Adopted: skew <= MaxStep.Microseconds(),
		Skew:    time.Duration(max(-maxSkew, min(skew, maxSkew))) * time.Microsecond,
	}
	if t.status.Adopted {
		now = max(now, wall)
	}
	now = max(now, t.last+1, atLeast+1)
	// What is below a microsecond stays for the next call, or time would run slow under load.
	t.last, t.mono = now, t.mono+elapsed
	return now
}

func (t *timeline) read() ClockStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status
}

func readClock(r Reader) (int64, error) {
	v, err := r.Get(clockKey)
	if err != nil || v == nil {
		return 0, err
	}
	if len(v) != 8 {
		return 0, fmt.Errorf("store: clock row has %d bytes, want 8", len(v))
	}
	return int64(binary.BigEndian.Uint64(v)), nil
}

func clockRow(now int64) Write {
	return Write{clockKey, binary.BigEndian.AppendUint64(nil, uint64(now))}
}
