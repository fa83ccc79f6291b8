package retry

import (
	"cmp"
	"time"
)

// Overrides take the place of a policy's own numbers for one job. What is nil or 0 is not overridden.
type Overrides struct {
	MaxRetries *int        `json:"maxRetries,omitempty"`
	Base       ISODuration `json:"base,omitempty"`
	Max        ISODuration `json:"max,omitempty"`
	Deadline   ISODuration `json:"deadline,omitempty"`
}

// With returns the policy with the overrides of a job, p itself if there are none. The jitter stays what it
// was.
//
// Min gives way to a shorter Base or Max. A Base beyond Max is cut to Max, by the queue's formula
// min(retry_delay * 2^(attempts-1), max_retry_delay). A Max that is no whole unit of Precision is rounded
// down to one. The error is [Faults].
func (p *Policy) With(o Overrides) (*Policy, error) {
	if o == (Overrides{}) {
		return p, nil
	}
	q := *p
	if o.MaxRetries != nil {
		q.MaxRetries = *o.MaxRetries
	}
	base, longest := time.Duration(o.Base), time.Duration(o.Max)
	q.Max = cmp.Or(longest.Truncate(p.Precision), longest, p.Max)
	q.Base = min(cmp.Or(base, p.Base), q.Max)
	q.Min = max(min(p.Min, q.Max, cmp.Or(base, p.Min).Truncate(p.Precision)), p.Precision)
	q.Deadline = cmp.Or(time.Duration(o.Deadline), p.Deadline)
	if wrong := q.faults(); wrong != nil {
		return nil, wrong
	}
	q.overrides = o
	q.version = hash(p.version, q.MaxRetries, q.Base, q.Min, q.Max, q.Deadline)
	return &q, nil
}
