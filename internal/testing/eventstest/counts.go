package eventstest

import (
	"sync/atomic"
	"time"
)

// counts is an [events.Observer] that counts.
type counts struct{ published, failed atomic.Int64 }

func (c *counts) Published(n int)     { c.published.Add(int64(n)) }
func (c *counts) PublishFailed(n int) { c.failed.Add(int64(n)) }

// Backlog is not looked at.
func (c *counts) Backlog(int64, time.Time) {}

func (c *counts) get() (published, failed int64) { return c.published.Load(), c.failed.Load() }
