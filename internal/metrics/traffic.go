package metrics

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
)

// outbox is what waits to be published, as it was counted last.
type outbox struct {
	pending prometheus.Gauge
	oldest  atomic.Int64 // Unix nanoseconds, 0 where nothing waits
}

// Backlog notes how many events wait to be published, and when the oldest of them was decided; the zero time where none
// waits.
func (m *Metrics) Backlog(waiting int64, oldest time.Time) {
	m.outbox.pending.Set(float64(waiting))
	if oldest.IsZero() {
		m.outbox.oldest.Store(0)
		return
	}
	m.outbox.oldest.Store(oldest.UnixNano())
}

// age is how old the oldest event is now.
func (o *outbox) age() float64 {
	at := o.oldest.Load()
	if at == 0 {
		return 0
	}
	return max(time.Since(time.Unix(0, at)).Seconds(), 0)
}

// addTraffic makes the counters of what goes to and fro between broker, store and queue.
func (m *Metrics) addTraffic() {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m.repeated = counter("retry_redelivered_total", "Jobs that were given their stored answer again.")
	m.jobKeyReused = counter("retry_job_key_reused_total", "Jobs whose key is stored with another process instance: the broker's data was wiped, or two clusters have the same name.")
	m.pollErrors = counter("retry_poll_errors_total", "Polls for jobs that failed.")
	m.storeErrors = counter("retry_store_errors_total", "Tries to write to the audit store that failed.")
	m.published = counter("retry_events_published_total", "Events that the queue has acknowledged.")
	m.publishErrors = counter("retry_events_failed_total", "Events that were sent to the queue and not acknowledged; they are sent again.")
	m.outbox.pending = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "retry_outbox_pending",
		Help: "Events that wait to be published; 0 where no queue is configured.",
	})
	m.outboxAge = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "retry_outbox_oldest_seconds",
		Help: "Age of the oldest event that waits to be published; 0 where none waits.",
	}, m.outbox.age)
	m.outcomes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "retry_outcomes_total",
		Help: "Rounds of submissions that ended, by how they did; redriven: sent again before its time by a person, in the same round.",
	}, []string{"outcome"})
	for _, kind := range []audit.Kind{audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned, audit.KindRedriven} {
		m.outcomes.WithLabelValues(strings.ToLower(kind.String()))
	}
	m.answers = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "retry_job_answers_total",
		Help: "Answers to jobs, by what was answered and what became of it: taken by the broker, gone (it did not know the job any more), or unknown.",
	}, []string{"answer", "fate"})
	for _, kind := range []job.Kind{job.KindComplete, job.KindThrowError, job.KindFail, job.KindRelease} {
		for _, fate := range []job.Fate{job.Taken, job.Gone, job.Unknown} {
			m.answers.WithLabelValues(kind.String(), fate.String())
		}
	}
}

// Repeated counts a job that was given its stored answer again.
func (m *Metrics) Repeated() { m.repeated.Inc() }

// JobKeyReused counts a job whose key is known from another process instance.
func (m *Metrics) JobKeyReused() { m.jobKeyReused.Inc() }

// OutcomeRecorded counts a round of submissions that ended, or a re-drive.
func (m *Metrics) OutcomeRecorded(kind audit.Kind) {
	m.outcomes.WithLabelValues(strings.ToLower(kind.String())).Inc()
}

// PollFailed counts a poll that failed.
func (m *Metrics) PollFailed() { m.pollErrors.Inc() }

// Answered counts an answer and what became of it.
func (m *Metrics) Answered(kind job.Kind, fate job.Fate) {
	m.answers.WithLabelValues(kind.String(), fate.String()).Inc()
}

// StoreFailed counts a try to write to the store that failed.
func (m *Metrics) StoreFailed() { m.storeErrors.Inc() }

// Published counts events that the queue has acknowledged, PublishFailed those that it has not.
func (m *Metrics) Published(events int) { m.published.Add(float64(events)) }

// PublishFailed counts events that were sent and not acknowledged.
func (m *Metrics) PublishFailed(events int) { m.publishErrors.Add(float64(events)) }
