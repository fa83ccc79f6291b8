package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/retry"
)

// rnBIL004 holds the metrics of RN-BIL-004 section 13.4, which count the jobs of its own job type. The names are fixed there,
// and with them units and endings.
type rnBIL004 struct {
	retries        prometheus.Counter
	backoff        prometheus.Histogram
	maxExceeded    prometheus.Counter
	classification *prometheus.CounterVec
}

func newRNBIL004(r registrar) rnBIL004 {
	s := rnBIL004{
		retries:        r.counter("submission_retry_total", "Retries that retry-submission-backoff jobs were given."),
		backoff:        r.histogram("submission_retry_backoff_minutes", "Waits that retry-submission-backoff jobs were given, in minutes.", backoffBuckets...),
		maxExceeded:    r.counter("submission_retry_max_exceeded", "Claims of retry-submission-backoff jobs whose retries were used up."),
		classification: r.counters("error_classification_distribution", "Errors that retry-submission-backoff jobs brought, by their class.", "classification"),
	}
	for _, class := range []retry.Class{retry.Transient, retry.Permanent, retry.Unknown} {
		s.classification.WithLabelValues(string(class))
	}
	return s
}

// RNBIL004 counts the decisions of `retry-submission-backoff` jobs under the names of RN-BIL-004, and everything else under
// those that both job types have.
type RNBIL004 struct{ *Metrics }

// Decided counts a decision and the time that it took.
func (s RNBIL004) Decided(d retry.Decision, elapsed time.Duration) {
	s.analysis.Observe(elapsed.Seconds())
	s.policies.count(&d)
	s.rnBIL004.classification.WithLabelValues(string(d.Error.Class)).Inc()
	switch d.Outcome {
	case retry.OutcomeRetry:
		s.rnBIL004.retries.Inc()
		s.rnBIL004.backoff.Observe(d.Backoff.Minutes())
	case retry.OutcomeExhausted:
		s.rnBIL004.maxExceeded.Inc()
	case retry.OutcomePermanent:
	}
}
