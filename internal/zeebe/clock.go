package zeebe

import (
	"fmt"
	"sync"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/zap"
)

const (
	// toldSkew is the difference between the clocks from which on the log warns of it. Decisions go on: a wait is a
	// duration on the broker's clock.
	toldSkew = 5 * time.Minute
	// maxClockSkew is the default of the difference from which on no job is decided.
	maxClockSkew = 24 * time.Hour
	// lastMilli is the last millisecond of the year 9999.
	lastMilli = 253402300799999
)

// Clock compares this host's clock with the broker's, which tells its time by the end of the lock of a job. One Clock
// serves all workers of a process. It is made by NewClock.
type Clock struct {
	max   time.Duration
	now   func() time.Time
	log   *zap.Logger
	known chan struct{} // closed when the broker has told its time

	mu     sync.Mutex
	broker time.Time     // as it was told last
	seen   time.Time     // when, with this process's monotonic clock
	skew   time.Duration // the broker's clock less the host's, then
	state  clockState    // as it was logged last
}

// clockState is how far the clocks differ.
type clockState uint8

const (
	clockRight  clockState = iota
	clockSkewed            // by more than toldSkew
	clockWrong             // by more than the most that is allowed
)

// NewClock returns a clock that has not heard of the broker's time. most is the difference from which on no job is
// decided, one day where it is 0. The host's time comes from now, which must have a monotonic reading as [time.Now] has.
func NewClock(most time.Duration, now func() time.Time, log *zap.Logger) *Clock {
	if most <= 0 {
		most = maxClockSkew
	}
	return &Clock{max: most, now: now, log: log, known: make(chan struct{})}
}

// Known returns a channel that is closed when the broker has told its time for the first time.
func (c *Clock) Known() <-chan struct{} { return c.known }

// Broker returns the broker's time now: as it was told last, and what has passed since on the monotonic clock. It is the
// zero time where the broker has not told it.
func (c *Clock) Broker() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at(c.now())
}

func (c *Clock) at(now time.Time) time.Time {
	if c.seen.IsZero() {
		return time.Time{}
	}
	return c.broker.Add(now.Sub(c.seen))
}

// Skew returns how far the broker's clock was ahead of the host's when it was told last, and whether it ever was.
func (c *Clock) Skew() (skew time.Duration, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.skew, !c.seen.IsZero()
}

// Err returns why no job is decided: the clocks differ too much. It is nil where the broker's time is not known. It ends
// with the first batch that shows a right clock, or as soon as the host's own clock is set right.
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

// observe takes the broker's time from jobs that came together. An end of a lock that cannot be one tells nothing.
func (c *Clock) observe(activated []*pb.ActivatedJob, lock time.Duration) {
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
	if c.seen.IsZero() {
		close(c.known)
	}
	c.broker, c.seen, c.skew = broker, now, broker.Sub(now) // broker has no monotonic reading: the wall clocks are compared
	c.judge(now)
}

// judge sets the state, and logs a change of it. It goes by the smaller of two differences, the one measured last and the
// present one, because the monotonic clock of a host that was suspended is behind.
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
			"no job is decided, and jobs go back to the broker, until the clocks agree: correct the wrong one; docs/runbooks/RetryClockSkew.md"))...)
	case state == clockSkewed && was == clockRight:
		c.log.Warn("clock_skewed", append(fields, zap.String("detail", "decisions go on; nextRetryTime and the times of the audit trail "+
			"are as wrong as the host's clock: look at the time synchronisation of both hosts"))...)
	default:
		c.log.Info("clock_better", fields...)
	}
}

func (c *Clock) stateOf(skew time.Duration) clockState {
	switch {
	case skew > c.max || skew < -c.max:
		return clockWrong
	case skew > toldSkew || skew < -toldSkew:
		return clockSkewed
	default:
		return clockRight
	}
}
