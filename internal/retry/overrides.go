package retry

import (
	"errors"
	"time"
)

// Overrides take the place of a policy's own numbers for one job. What is nil or 0 is not overridden.
type Overrides struct {
	MaxRetries *int
	Base, Max  time.Duration
	Deadline   time.Duration
}

// None reports whether nothing is overridden.
func (o Overrides) None() bool { return o == Overrides{} }

// With returns the policy with the overrides of a job, p itself if there are none. The jitter stays what it was.
//
// Min gives way to a shorter Base or Max. A Base beyond Max is cut to Max, by the queue's formula
// min(retry_delay * 2^(attempts-1), max_retry_delay). A Max that is no whole unit of Precision is rounded down to one. The
// error joins a [*SettingError] for each invalid value.
func (p *Policy) With(o Overrides) (*Policy, error) {
	if o.None() {
		return p, nil
	}
	q := *p
	if o.MaxRetries != nil {
		q.MaxRetries = *o.MaxRetries
	}
	if o.Max != 0 {
		if q.Max = o.Max.Truncate(p.Precision); q.Max == 0 {
			q.Max = o.Max // so that the fault names the given value
		}
		q.Min = max(min(q.Min, q.Max), p.Precision)
	}
	if o.Base != 0 {
		q.Base = o.Base
		q.Min = min(q.Min, max(q.Base.Truncate(p.Precision), p.Precision))
	}
	if q.Max > 0 {
		q.Base = min(q.Base, q.Max)
	}
	if o.Deadline != 0 {
		q.Deadline = o.Deadline
	}
	if err := errors.Join(q.faults()...); err != nil {
		return nil, err
	}
	q.overrides = o
	q.version = hash(p.version, q.MaxRetries, q.Base, q.Min, q.Max, q.Deadline)
	return &q, nil
}
