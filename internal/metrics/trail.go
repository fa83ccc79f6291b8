package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// trail holds the metrics of the checks of the audit trail and of its retention.
type trail struct{ intact, verified, held prometheus.Gauge }

func newTrail(r registrar) trail {
	t := trail{
		intact: r.gauge("retry_audit_intact",
			"1 if the worker's last check of the audit trail found it in order, 0 if a record was changed, removed or added, or the store's schema or rights differ; NaN before the first."),
		verified: r.gauge("retry_audit_verified_timestamp_seconds", "When the worker last found the audit trail in order, in Unix time; 0 before the first check."),
		held: r.gauge("retry_audit_retention_held",
			"1 while no audit record is removed because the host's clock is ahead of the broker's or of the newest signed head, else 0."),
	}
	t.intact.Set(Unknown())
	return t
}

// AuditIntact notes that a check found the audit trail in order.
func (m *Metrics) AuditIntact(at time.Time) {
	m.trail.intact.Set(1)
	m.trail.verified.Set(float64(at.Unix()))
}

// AuditBroken notes that a check found the audit trail changed.
func (m *Metrics) AuditBroken() { m.trail.intact.Set(0) }

// RetentionHeld notes whether the host's clock keeps records from being removed.
func (m *Metrics) RetentionHeld(held bool) {
	m.trail.held.Set(number(held))
}
