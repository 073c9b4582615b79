package storetest

import (
	"sync"
	"time"

	"github.com/writ-kernel/writ/kernel/store"
)

// Clock is a store.Clock that moves only when it is told to.
type Clock struct {
	mu   sync.Mutex
	wall time.Time
	mono time.Duration
}

var _ store.Clock = (*Clock)(nil)

// NewClock starts at one fixed moment, the same in every test.
func NewClock() *Clock {
	return &Clock{wall: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// Wall implements store.Clock.
func (c *Clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// Mono implements store.Clock.
func (c *Clock) Mono() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mono
}

// Advance lets time pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
	c.mono += d
}

// Step sets the wall clock forward or back without letting time pass.
func (c *Clock) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}
