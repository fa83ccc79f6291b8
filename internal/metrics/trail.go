package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// trail are the metrics of the checks of the audit trail.
type trail struct{ intact, verified prometheus.Gauge }

func newTrail() trail {
	t := trail{
		intact: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "retry_audit_intact",
			Help: "1 if the worker's last check of the audit trail found it in order, 0 if a record was changed, removed or added, or the store is not as the worker makes it; NaN before the first.",
		}),
		verified: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "retry_audit_verified_timestamp_seconds",
			Help: "When the worker last found the audit trail in order, in Unix time; 0 before the first check.",
		}),
	}
	t.intact.Set(Unknown())
	return t
}

func (t *trail) register(reg prometheus.Registerer) { reg.MustRegister(t.intact, t.verified) }

// AuditIntact notes that a check found the audit trail in order, AuditBroken that one did not.
func (m *Metrics) AuditIntact(at time.Time) {
	m.trail.intact.Set(1)
	m.trail.verified.Set(float64(at.Unix()))
}

// AuditBroken notes that a check found the audit trail changed.
func (m *Metrics) AuditBroken() { m.trail.intact.Set(0) }
