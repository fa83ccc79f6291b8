package zeebe

import (
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/job"
)

const (
	// warnSkew is the skew from which on the log warns. Decisions go on: a wait is a duration on the broker's clock.
	warnSkew = 5 * time.Minute
	// lastMilli is the last millisecond of the year 9999.
	lastMilli = 253402300799999
)

// Clock compares this host's clock with the broker's, whose time shows in the end of a job's lock. One Clock serves all
// workers of a process. It is made by NewClock.
type Clock struct {
	max time.Duration
	now func() time.Time
	log *zap.Logger

	mu     sync.Mutex
	broker time.Time     // as last observed
	seen   time.Time     // when, with this process's monotonic clock; zero while the broker's time is not known
	level  zapcore.Level // of the last line about the skew
}

// NewClock returns a clock that does not know the broker's time yet. maxSkew is the skew from which on no job is decided.
// The host's time comes from now, which must have a monotonic reading as [time.Now] has.
func NewClock(maxSkew time.Duration, now func() time.Time, log *zap.Logger) *Clock {
	return &Clock{max: maxSkew, now: now, log: log}
}

// Err returns an error while the clocks differ too much to decide a job, and nil while the broker's time is not known. The
// error ends with the first batch that shows a right clock, or as soon as the host's own clock is set right.
func (c *Clock) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now().UTC()
	skew := c.skew(now)
	if skew.Abs() <= c.max {
		return nil
	}
	return fmt.Errorf("the clocks differ too much for a decision: this host's says %s, the broker's %s; correct the wrong one "+
		"(RETRY_MAX_CLOCK_SKEW=%v allows for clocks that are moved on purpose)",
		now.Format(time.RFC3339), now.Add(skew).Format(time.RFC3339), c.max)
}

// skew returns how far the broker's clock is ahead: as last observed, or at present if that is less, because the monotonic clock
// of a host that was suspended is behind.
func (c *Clock) skew(now time.Time) time.Duration {
	if c.seen.IsZero() {
		return 0
	}
	then := c.broker.Sub(c.seen.Round(0)) // the wall clocks are compared
	if present := c.broker.Add(now.Sub(c.seen)).Sub(now.Round(0)); present.Abs() < then.Abs() {
		return present
	}
	return then
}

// observe reads the broker's time from jobs that came together, and logs what it means where that changes. It ignores a lock's
// end that cannot be one.
func (c *Clock) observe(activated []job.Job, lock time.Duration) {
	for _, j := range activated {
		if j.Deadline > 0 && j.Deadline <= lastMilli {
			c.set(time.UnixMilli(j.Deadline).Add(-lock))
			return
		}
	}
}

func (c *Clock) set(broker time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.broker, c.seen = broker, now
	skew := c.skew(now)
	level, event, detail := zapcore.InfoLevel, "clock_better", "the clocks agree"
	switch {
	case skew.Abs() > c.max:
		level, event, detail = zapcore.ErrorLevel, "clock_wrong",
			"no job is decided, and jobs go back to the broker, until the clocks agree: correct the wrong one; docs/runbooks.md#what-to-look-at"
	case skew.Abs() > warnSkew:
		level, event, detail = zapcore.WarnLevel, "clock_skewed",
			"decisions go on; nextRetryTime and the times of the audit trail are as wrong as the host's clock: look at the time "+
				"synchronisation of both hosts"
	}
	if level == c.level {
		return
	}
	c.level = level
	c.log.Log(level, event, zap.Time("hostTime", now.UTC()), zap.Time("brokerTime", broker.UTC()),
		zap.Duration("brokerAhead", skew.Round(time.Millisecond)), zap.Duration("allowed", c.max), zap.String("detail", detail))
}
