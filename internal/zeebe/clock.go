package zeebe

import (
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

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
	seen   time.Time     // when, with this process's monotonic clock
	skew   time.Duration // the broker's clock less the host's, then
	state  clockState    // as last logged
}

// clockState grades how far the clocks differ.
type clockState uint8

const (
	clockRight  clockState = iota
	clockSkewed            // by more than warnSkew
	clockWrong             // by more than is allowed
)

// NewClock returns a clock that does not know the broker's time yet. maxSkew is the skew from which on no job is decided.
// The host's time comes from now, which must have a monotonic reading as [time.Now] has.
func NewClock(maxSkew time.Duration, now func() time.Time, log *zap.Logger) *Clock {
	return &Clock{max: maxSkew, now: now, log: log}
}

// at returns the broker's time: as last observed, plus what has passed since on the monotonic clock. It is zero if the broker's
// time is not known.
func (c *Clock) at(now time.Time) time.Time {
	if c.seen.IsZero() {
		return time.Time{}
	}
	return c.broker.Add(now.Sub(c.seen))
}

// Err returns an error while the clocks differ too much to decide a job, and nil while the broker's time is not known. The
// error ends with the first batch that shows a right clock, or as soon as the host's own clock is set right.
func (c *Clock) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.judge(now); c.state != clockWrong {
		return nil
	}
	const layout = "2006-01-02T15:04:05Z"
	return fmt.Errorf("the clocks differ too much for a decision: this host's says %s, the broker's %s; correct the wrong one "+
		"(RETRY_MAX_CLOCK_SKEW=%v allows for clocks that are moved on purpose)", now.UTC().Format(layout), c.at(now).UTC().Format(layout), c.max)
}

// observe reads the broker's time from jobs that came together. It ignores a lock's end that cannot be one.
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
	c.broker, c.seen, c.skew = broker, now, broker.Sub(now) // broker has no monotonic reading: the wall clocks are compared
	c.judge(now)
}

// judge sets the state, and logs a change of it. It takes the smaller of two skews, the one last observed and the present
// one, because the monotonic clock of a host that was suspended is behind.
func (c *Clock) judge(now time.Time) {
	if c.seen.IsZero() {
		return
	}
	broker := c.at(now)
	state := min(c.stateOf(c.skew), c.stateOf(broker.Sub(now.Round(0))))
	if state == c.state {
		return
	}
	was := c.state
	c.state = state
	fields := []zap.Field{zap.Time("hostTime", now.UTC()), zap.Time("brokerTime", broker.UTC()), zap.Duration("brokerAhead", c.skew.Round(time.Millisecond))}
	switch {
	case state == clockWrong:
		c.log.Error("clock_wrong", append(fields, zap.Duration("allowed", c.max), zap.String("detail",
			"no job is decided, and jobs go back to the broker, until the clocks agree: correct the wrong one; docs/runbooks.md#what-to-look-at"))...)
	case state == clockSkewed && was == clockRight:
		c.log.Warn("clock_skewed", append(fields, zap.String("detail", "decisions go on; nextRetryTime and the times of the audit trail "+
			"are as wrong as the host's clock: look at the time synchronisation of both hosts"))...)
	default:
		c.log.Info("clock_better", fields...)
	}
}

func (c *Clock) stateOf(skew time.Duration) clockState {
	switch skew = skew.Abs(); {
	case skew > c.max:
		return clockWrong
	case skew > warnSkew:
		return clockSkewed
	default:
		return clockRight
	}
}
