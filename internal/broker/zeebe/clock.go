package zeebe

import (
	"fmt"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/ops/outage"
)

// warnSkew is the skew from which on the log warns. Decisions go on: a wait is a duration on the broker's
// clock.
const warnSkew = 5 * time.Minute

// Clock compares this host's clock with the broker's, whose time shows in the end of a job's lock. One Clock
// serves all workers of a process. It is made by NewClock.
type Clock struct {
	max           time.Duration
	wrong, skewed outage.Tracker
}

// NewClock returns a clock that does not know the broker's time yet. maxSkew is the skew beyond which no job
// is decided.
func NewClock(maxSkew time.Duration, log *zap.Logger) *Clock {
	return &Clock{
		max: maxSkew,
		wrong: outage.Tracker{
			Log:   log,
			Lost:  "clock_wrong",
			Back:  "clock_better",
			Level: zapcore.ErrorLevel,
			Detail: "no job is decided, and jobs go back to the broker, until the clocks agree; " +
				"docs/runbooks.md#what-to-look-at",
		},
		skewed: outage.Tracker{
			Log:   log,
			Lost:  "clock_skewed",
			Back:  "clock_right",
			Level: zapcore.WarnLevel,
			Detail: "nextRetryTime and the times of the audit trail are as wrong as the host's clock: " +
				"look at the time synchronisation of both hosts",
		},
	}
}

// Err returns an error while the clocks differ too much to decide a job: from a job that shows it until one
// shows that they agree. It is nil while the broker's time is not known.
func (c *Clock) Err() error {
	err := c.wrong.Err()
	if err != nil {
		err = fmt.Errorf("the clocks differ too much for a decision: %w; correct the wrong one "+
			"(RETRY_MAX_CLOCK_SKEW=%v allows for clocks that are moved on purpose)", err, c.max)
	}
	return err
}

// observe reads the broker's time from a job that was just locked for so long.
func (c *Clock) observe(j job.Job, lock time.Duration) {
	if j.Deadline <= 0 {
		return // the gateway does not say
	}
	now, broker := time.Now(), time.UnixMilli(j.Deadline).Add(-lock)
	note := func(t *outage.Tracker, most time.Duration) {
		if broker.Sub(now).Abs() <= most {
			t.Succeeded()
			return
		}
		t.Failed(now, fmt.Errorf("this host's says %s, the broker's %s",
			now.UTC().Format(time.RFC3339), broker.UTC().Format(time.RFC3339)))
	}
	note(&c.wrong, c.max)
	note(&c.skewed, warnSkew)
}
