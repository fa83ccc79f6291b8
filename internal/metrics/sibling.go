package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/retry"
)

// sibling are the metrics of RN-BIL-004 section 13.4, which count the jobs of its own job type. The names are fixed there,
// and with them units and endings.
type sibling struct {
	retries        prometheus.Counter
	backoff        prometheus.Histogram
	maxExceeded    prometheus.Counter
	classification *prometheus.CounterVec
}

func newSibling() sibling {
	s := sibling{
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "submission_retry_total",
			Help: "Retries that retry-submission-backoff jobs were given.",
		}),
		// RN-BIL-004 section 13.4 fixes the name and with it the unit.
		backoff: histogram(prometheus.HistogramOpts{
			Name:    "submission_retry_backoff_minutes",
			Help:    "Waits that retry-submission-backoff jobs were given, in minutes.",
			Buckets: backoffBuckets,
		}),
		//nolint:promlinter // RN-BIL-004 section 13.4 fixes the name, without _total
		maxExceeded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "submission_retry_max_exceeded",
			Help: "Claims of retry-submission-backoff jobs whose retries were used up.",
		}),
		//nolint:promlinter // RN-BIL-004 section 13.4 fixes the name, without _total
		classification: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "error_classification_distribution",
			Help: "Errors that retry-submission-backoff jobs brought, by their class.",
		}, []string{"classification"}),
	}
	for _, class := range []retry.Class{retry.Transient, retry.Permanent, retry.Unknown} {
		s.classification.WithLabelValues(string(class))
	}
	return s
}

func (s *sibling) register(reg prometheus.Registerer) {
	reg.MustRegister(s.retries, s.backoff, s.maxExceeded, s.classification)
}

// Sibling counts the decisions of `retry-submission-backoff` jobs under the names of RN-BIL-004, and everything else under
// those that both job types have.
type Sibling struct{ *Metrics }

// Decided counts a decision that took so long to find.
func (s Sibling) Decided(d retry.Decision, elapsed time.Duration) {
	s.analysis.Observe(elapsed.Seconds())
	s.policies.count(&d)
	s.siblings.classification.WithLabelValues(string(d.Error.Class)).Inc()
	switch d.Outcome {
	case retry.OutcomeRetry:
		s.siblings.retries.Inc()
		s.siblings.backoff.Observe(d.Backoff.Minutes())
	case retry.OutcomeExhausted:
		s.siblings.maxExceeded.Inc()
	case retry.OutcomePermanent:
	}
}
