package metrics

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/job"
)

// workerMetrics are the metrics of jobs, store, queue and audit trail.
type workerMetrics struct {
	polls, answers            *prometheus.CounterVec
	panics, repeated          prometheus.Counter
	storeErrors               prometheus.Counter
	published, publishErrors  prometheus.Counter
	pending, reloaded, intact prometheus.Gauge
	// oldest is when the oldest event that waits was decided, in Unix nanoseconds; 0 if none waits.
	oldest *atomic.Int64
}

// codes are the names of the gRPC status codes.
var codes = []string{
	"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists", "PermissionDenied",
	"ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal", "Unavailable", "DataLoss",
	"Unauthenticated",
}

func newWorkerMetrics(r registrar) workerMetrics {
	w := workerMetrics{
		polls: r.counters("retry_polls_total", "Polls for jobs, by gRPC code.", "code"),
		answers: r.counters("retry_job_answers_total",
			"Answers to jobs, by kind and result; not_found: the broker no longer had the job.", "answer", "result"),
		panics:        r.counter("retry_panics_total", "Calls of a handler that panicked or did not return in time."),
		repeated:      r.counter("retry_redelivered_total", "Jobs that were given their stored answer again."),
		storeErrors:   r.counter("retry_store_errors_total", "Failed writes to the audit store."),
		published:     r.counter("retry_events_published_total", "Events that the queue has acknowledged."),
		publishErrors: r.counter("retry_events_failed_total", "Events that the queue has not acknowledged; they are sent again."),
		pending:       r.gauge("retry_outbox_pending", "Events that wait to be published."),
		reloaded: r.gauge("retry_policies_last_reload_successful",
			"1 if the policies in force are those of the file, 0 if the last reload found it broken."),
		intact: r.gauge("retry_audit_intact",
			"1 if the last check of the audit trail found it in order, 0 if it was changed; NaN before the first."),
		oldest: &atomic.Int64{},
	}
	r.gaugeFunc("retry_outbox_oldest_seconds", "Age of the oldest event that waits; 0 if none waits.", nil, func() float64 {
		if at := w.oldest.Load(); at != 0 {
			return secondsSince(time.Unix(0, at))
		}
		return 0
	})
	w.reloaded.Set(1)
	w.intact.Set(Unknown())
	for _, code := range codes {
		w.polls.WithLabelValues(code)
	}
	for _, kind := range []job.Kind{job.KindComplete, job.KindThrowError, job.KindFail, job.KindRelease} {
		for _, result := range []job.Result{job.Accepted, job.NotFound, job.Unknown} {
			w.answers.WithLabelValues(kind.String(), result.String())
		}
	}
	return w
}

// Polled counts a poll by the name of its gRPC code.
func (m *Metrics) Polled(code string) {
	if !slices.Contains(codes, code) { // a gateway may send one of its own
		code = "Unknown"
	}
	m.worker.polls.WithLabelValues(code).Inc()
}

// HandlerFailed counts a call of the handler that panicked or hung.
func (m *Metrics) HandlerFailed() { m.worker.panics.Inc() }

// Answered counts an answer and what became of it.
func (m *Metrics) Answered(_ int64, answer job.Answer, result job.Result) {
	m.worker.answers.WithLabelValues(answer.Kind.String(), result.String()).Inc()
}

// Repeated counts a job that was given its stored answer again.
func (m *Metrics) Repeated() { m.worker.repeated.Inc() }

// StoreFailed counts a try to write to the store that failed.
func (m *Metrics) StoreFailed() { m.worker.storeErrors.Inc() }

// Published counts events that the queue has acknowledged.
func (m *Metrics) Published(events int) { m.worker.published.Add(float64(events)) }

// PublishFailed counts events that were sent and not acknowledged.
func (m *Metrics) PublishFailed(events int) { m.worker.publishErrors.Add(float64(events)) }

// Backlog notes how many events wait to be published, and when the oldest of them was decided; the zero time
// if none waits.
func (m *Metrics) Backlog(waiting int64, oldest time.Time) {
	m.worker.pending.Set(float64(waiting))
	if oldest.IsZero() {
		m.worker.oldest.Store(0)
		return
	}
	m.worker.oldest.Store(oldest.UnixNano())
}

// AuditChecked notes whether a check found the audit trail in order.
func (m *Metrics) AuditChecked(intact bool) { m.worker.intact.Set(number(intact)) }

// State holds what is asked at every scrape. All are required, and must return within a scrape.
type State struct {
	// Version is that of the worker's build.
	Version string
	// GatewayUp reports whether polls come through, StoreUp whether the store takes writes.
	GatewayUp, StoreUp func() bool
	// ActiveJobs is the number of active jobs by the types that are worked.
	ActiveJobs map[string]func() int
}

// RegisterState registers the metrics that are asked at every scrape.
func RegisterState(reg prometheus.Registerer, s State) {
	r := registrar{reg}
	r.gaugeFunc("retry_gateway_up", "1 while polls for jobs reach the Zeebe gateway, else 0.", nil,
		func() float64 { return number(s.GatewayUp()) })
	r.gaugeFunc("retry_store_up", "1 while the audit store takes writes, else 0.", nil,
		func() float64 { return number(s.StoreUp()) })
	r.gaugeFunc("retry_build_info", "1, with the version of the worker.", prometheus.Labels{"version": s.Version},
		func() float64 { return 1 })
	for jobType, active := range s.ActiveJobs {
		r.gaugeFunc("retry_jobs_active", "Jobs that were activated and not answered yet.",
			prometheus.Labels{"job_type": jobType}, func() float64 { return float64(active()) })
	}
}
