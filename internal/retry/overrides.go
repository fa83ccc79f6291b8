package retry

import (
	"cmp"

	"hospital.example/analyze-retry/internal/text"
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
// down to one. The error is that of [Policy.Extend].
func (p *Policy) With(o Overrides) (*Policy, error) {
	if o == (Overrides{}) {
		return p, nil
	}
	q := *p
	if o.MaxRetries != nil {
		q.MaxRetries = *o.MaxRetries
	}
	unit, base, longest := Duration(p.unit), Duration(o.Base), Duration(o.Max)
	q.Max = cmp.Or(longest-longest%unit, longest, p.Max)
	q.Base = min(cmp.Or(base, p.Base), q.Max)
	least := cmp.Or(base, p.Min)
	q.Min = max(min(p.Min, q.Max, least-least%unit), unit)
	q.Deadline = cmp.Or(Duration(o.Deadline), p.Deadline)
	if wrong := q.faults(); wrong != nil {
		return nil, text.Findings(wrong)
	}
	q.overrides = o
	q.version = hash(p.version, q.MaxRetries, q.Base, q.Min, q.Max, q.Deadline)
	return &q, nil
}
