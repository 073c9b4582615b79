package wasm

import (
	"encoding/binary"
	"math"

	"github.com/tetratelabs/wazero/api"
)

const (
	subscriptionSize = 48
	eventSize        = 32
	maxSubscriptions = 1024
)

// subscription is one thing poll_oneoff waits for. Whatever is not a clock fails at once.
type subscription struct {
	raw   []byte
	errno uint16
	due   uint64 // virtual time since the instance was made
}

// pollOneoff sleeps without waiting: the virtual clock jumps to the earliest time asked for.
func pollOneoff(c *guestCall, mem api.Memory, args []uint64) uint64 {
	n := uint32(args[2])
	if n == 0 || n > maxSubscriptions {
		return errnoInval
	}
	in, ok := mem.Read(uint32(args[0]), n*subscriptionSize)
	if !ok {
		return errnoFault
	}
	// The two ranges may overlap, so the subscriptions are copied before an event is written.
	in = append([]byte(nil), in...)
	out, ok := mem.Read(uint32(args[1]), n*eventSize)
	if !ok {
		return errnoFault
	}
	subs := make([]subscription, n)
	wake := uint64(math.MaxUint64)
	for i := range subs {
		subs[i] = c.subscription(in[i*subscriptionSize:][:subscriptionSize])
		wake = min(wake, subs[i].due)
	}
	c.clock = max(c.clock, wake)
	events := uint32(0)
	for _, s := range subs {
		if s.due > c.clock {
			continue
		}
		event := out[events*eventSize:][:eventSize]
		clear(event)
		copy(event, s.raw[:8]) // the caller's own mark
		binary.LittleEndian.PutUint16(event[8:], s.errno)
		event[10] = s.raw[8]
		events++
	}
	if !mem.WriteUint32Le(uint32(args[3]), events) {
		return errnoFault
	}
	return errnoSuccess
}

func (c *guestCall) subscription(raw []byte) subscription {
	if raw[8] != 0 {
		return subscription{raw: raw, errno: errnoBadFD}
	}
	now, ok := c.now(binary.LittleEndian.Uint32(raw[16:]))
	if !ok {
		return subscription{raw: raw, errno: errnoInval}
	}
	wait := binary.LittleEndian.Uint64(raw[24:])
	if absolute := binary.LittleEndian.Uint16(raw[40:])&1 != 0; absolute {
		wait = max(wait, now) - now
	}
	due := c.clock + wait
	if due < c.clock {
		due = math.MaxUint64
	}
	return subscription{raw: raw, due: due}
}
