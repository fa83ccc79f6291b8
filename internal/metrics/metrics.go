// Package metrics holds every Prometheus metric of the worker. The names are those of RN-BIL-005 section 13.4, with
// which the dashboards of the hospital were agreed; labels hold closed sets only, never a claim or an error text, and
// every series exists from the start, so that a rate over it is 0 rather than absent.
package metrics

import (
	"iter"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"hospital.example/analyze-retry/internal/retry"
)

// Metrics counts what the worker decides. It is safe for use by several goroutines.
type Metrics struct {
	analysis    prometheus.Histogram
	backoff     prometheus.Histogram
	scheduled   map[retry.Class]*[mostAttempts]prometheus.Counter
	maxExceeded prometheus.Counter
	permanent   *prometheus.CounterVec
	siblings    sibling
	policies    policies
	success     success
	traffic     traffic
	broker      broker
	trail       trail
}

// backoffBuckets are the steps of the schedule and the edges of their jitter bands, in minutes.
var backoffBuckets = []float64{5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 240}

// NewRegistry returns a registry with the metrics of the Go runtime, the process and the build.
func NewRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
	)
	return reg
}

// New registers the metrics with reg, with the labels of the policies; see [Metrics.Know]. It panics if reg has metrics of
// these names already.
func New(reg prometheus.Registerer, known iter.Seq[*retry.Policy]) *Metrics {
	m := &Metrics{
		analysis: histogram(prometheus.HistogramOpts{
			Name: "retry_analysis_duration_seconds",
			Help: "Time from a job in hand to its decision, invalid input included.",
			// A decision takes microseconds; the alert asks for 1 s.
			Buckets: []float64{1e-5, 1e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		}),
		// RN-BIL-005 section 13.4 fixes the name and with it the unit.
		backoff: histogram(prometheus.HistogramOpts{
			Name:    "backoff_duration_minutes",
			Help:    "Waits that were scheduled before the next submission, in minutes.",
			Buckets: backoffBuckets,
		}),
		maxExceeded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "max_retries_exceeded_total",
			Help: "Claims whose retries were used up, handed to the billing team.",
		}),
		permanent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "permanent_errors_total",
			Help: "Claims stopped by an error that no retry can mend, by the code that was found.",
		}, []string{"code"}),
	}
	scheduled := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "retry_scheduled_total",
		Help: "Retries that were scheduled, by the class of the error and by which retry of the claim it is.",
	}, []string{"classification", "attempt"})
	m.scheduled = map[retry.Class]*[mostAttempts]prometheus.Counter{}
	for _, class := range []retry.Class{retry.Transient, retry.Unknown} {
		m.scheduled[class] = &[mostAttempts]prometheus.Counter{}
		for i := range mostAttempts {
			m.scheduled[class][i] = scheduled.WithLabelValues(string(class), attempt(i+1))
		}
	}
	m.siblings, m.policies, m.success = newSibling(), newPolicies(), newSuccess()
	m.traffic, m.broker, m.trail = newTraffic(), newBroker(), newTrail()
	m.Know(known)
	reg.MustRegister(m.analysis, m.backoff, m.maxExceeded, m.permanent, scheduled)
	m.siblings.register(reg)
	m.policies.register(reg)
	m.success.register(reg)
	m.traffic.register(reg)
	m.broker.register(reg)
	m.trail.register(reg)
	return m
}

// histogram makes a histogram that has these bounds, and is a native one beside them for a server that takes it as such.
func histogram(o prometheus.HistogramOpts) prometheus.Histogram {
	return prometheus.NewHistogram(native(o))
}

// native adds the native buckets, each a tenth wider than the one before. So many of them span all that is measured here
// with room to spare.
func native(o prometheus.HistogramOpts) prometheus.HistogramOpts {
	o.NativeHistogramBucketFactor = 1.1
	o.NativeHistogramMaxBucketNumber = 160
	o.NativeHistogramMinResetDuration = time.Hour
	return o
}

// mostAttempts is the last value of the label attempt, which stands for all after it too.
const mostAttempts = 10

// attempt is the label of the n-th retry of a claim.
func attempt(n int) string {
	if n >= mostAttempts {
		return strconv.Itoa(mostAttempts) + "+"
	}
	return strconv.Itoa(n)
}

// Decided counts a decision that took so long to find.
func (m *Metrics) Decided(d retry.Decision, elapsed time.Duration) {
	m.analysis.Observe(elapsed.Seconds())
	m.policies.count(&d)
	switch d.Outcome {
	case retry.OutcomeRetry:
		m.backoff.Observe(d.Backoff.Minutes())
		class := retry.Transient
		if d.Error.Class == retry.Unknown {
			class = retry.Unknown
		}
		m.scheduled[class][min(max(d.RetryCount, 1), mostAttempts)-1].Inc()
	case retry.OutcomeExhausted:
		m.maxExceeded.Inc()
	case retry.OutcomePermanent:
		m.permanent.WithLabelValues(d.Error.Label).Inc()
	}
}

// Rejected counts a job whose input was invalid.
func (m *Metrics) Rejected(elapsed time.Duration) {
	m.analysis.Observe(elapsed.Seconds())
}
