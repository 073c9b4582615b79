package daemon

import "time"

// SystemClock is the machine's clock as the store's committer wants it. Use NewSystemClock.
type SystemClock struct {
	start time.Time
}

// NewSystemClock starts the monotonic count.
func NewSystemClock() SystemClock { return SystemClock{start: time.Now()} }

// Wall is the wall clock in UTC, without a monotonic reading, so that a step of it shows.
func (SystemClock) Wall() time.Time { return time.Now().Round(0).UTC() }

// Mono is the time since NewSystemClock on the monotonic clock, which never goes back.
func (c SystemClock) Mono() time.Duration { return time.Since(c.start) }
