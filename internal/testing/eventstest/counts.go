package eventstest

import (
	"sync"
	"time"
)

// Counts is an [events.Observer] that counts.
type Counts struct {
	mu                sync.Mutex
	published, failed int
	waiting           int64
	oldest            time.Time
}

// Published implements [events.Observer].
func (c *Counts) Published(acked, unacked int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.published, c.failed = c.published+acked, c.failed+unacked
}

// Backlog implements [events.Observer].
func (c *Counts) Backlog(waiting int64, oldest time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting, c.oldest = waiting, oldest
}

// Events returns how many events were published, and how often one was not.
func (c *Counts) Events() (published, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.published, c.failed
}

// Waiting returns the last backlog.
func (c *Counts) Waiting() (n int64, oldest time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting, c.oldest
}
