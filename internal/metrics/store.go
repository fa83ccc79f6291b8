package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// traffic holds the metrics of what goes to and from store and queue.
type traffic struct {
	repeated, jobKeyReused, storeErrors prometheus.Counter
	published, publishErrors            prometheus.Counter
	pending                             prometheus.Gauge
	oldest                              *atomic.Int64 // of what waits to be published, Unix nanoseconds; 0 where nothing waits
}

func newTraffic(r registrar) traffic {
	t := traffic{
		repeated:      r.counter("retry_redelivered_total", "Jobs that were given their stored answer again."),
		jobKeyReused:  r.counter("retry_job_key_reused_total", "Jobs whose key is stored with another process instance: the broker's data was wiped, or two clusters have the same name."),
		storeErrors:   r.counter("retry_store_errors_total", "Failed writes to the audit store."),
		published:     r.counter("retry_events_published_total", "Events that the queue has acknowledged."),
		publishErrors: r.counter("retry_events_failed_total", "Events that were sent to the queue and not acknowledged; they are sent again."),
		pending:       r.gauge("retry_outbox_pending", "Events that wait to be published; 0 if no queue is configured."),
		oldest:        &atomic.Int64{},
	}
	r.gaugeFunc("retry_outbox_oldest_seconds", "Age of the oldest event that waits to be published; 0 if none waits.", nil, t.outboxAge)
	return t
}

// outboxAge returns how old the oldest event is now, in seconds.
func (t *traffic) outboxAge() float64 {
	at := t.oldest.Load()
	if at == 0 {
		return 0
	}
	return max(time.Since(time.Unix(0, at)).Seconds(), 0)
}

// Backlog notes how many events wait to be published, and when the oldest of them was decided; the zero time where none
// waits.
func (m *Metrics) Backlog(waiting int64, oldest time.Time) {
	m.traffic.pending.Set(float64(waiting))
	if oldest.IsZero() {
		m.traffic.oldest.Store(0)
		return
	}
	m.traffic.oldest.Store(oldest.UnixNano())
}

// Repeated counts a job that was given its stored answer again.
func (m *Metrics) Repeated() { m.traffic.repeated.Inc() }

// JobKeyReused counts a job whose key is known from another process instance.
func (m *Metrics) JobKeyReused() { m.traffic.jobKeyReused.Inc() }

// StoreFailed counts a try to write to the store that failed.
func (m *Metrics) StoreFailed() { m.traffic.storeErrors.Inc() }

// Published counts events that the queue has acknowledged, PublishFailed those that it has not.
func (m *Metrics) Published(events int) { m.traffic.published.Add(float64(events)) }

// PublishFailed counts events that were sent and not acknowledged.
func (m *Metrics) PublishFailed(events int) { m.traffic.publishErrors.Add(float64(events)) }

// trail holds the metrics of the checks of the audit trail.
type trail struct{ intact, verified prometheus.Gauge }

func newTrail(r registrar) trail {
	t := trail{
		intact: r.gauge("retry_audit_intact",
			"1 if the worker's last check of the audit trail found it in order, 0 if a record was changed, removed or added; NaN before the first."),
		verified: r.gauge("retry_audit_verified_timestamp_seconds", "When the worker last found the audit trail in order, in Unix time; 0 before the first check."),
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
