package eventstest

import "sync"

// Counts counts what a relay has published; see [events.Options].
type Counts struct {
	mu                sync.Mutex
	published, failed int
}

// Published counts.
func (c *Counts) Published(acked, unacked int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.published, c.failed = c.published+acked, c.failed+unacked
}

// Events returns how many events were published, and how often one was not.
func (c *Counts) Events() (published, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.published, c.failed
}
