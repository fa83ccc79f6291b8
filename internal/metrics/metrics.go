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

// Metrics counts what the worker does. It is safe for use by several goroutines.
type Metrics struct {
	analysis    prometheus.Histogram
	backoff     prometheus.Histogram
	scheduled   map[retry.Class]*[mostAttempts]prometheus.Counter
	maxExceeded prometheus.Counter
	permanent   *prometheus.CounterVec
	rnBIL004    rnBIL004
	policies    policies
	success     success
	traffic     traffic
	broker      broker
	trail       trail
	open        *open
}

// New registers the metrics with reg, with the labels of the policies; see [Metrics.Know]. It panics if reg has metrics of
// these names already.
func New(reg prometheus.Registerer, known iter.Seq[*retry.Policy]) *Metrics {
	r := registrar{reg}
	m := &Metrics{
		// A decision takes microseconds; the alert asks for 1 s.
		analysis: r.histogram("retry_analysis_duration_seconds", "Time from a job's activation to its decision, including invalid input.",
			1e-5, 1e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
		// RN-BIL-005 section 13.4 fixes the name and with it the unit.
		backoff:     r.histogram("backoff_duration_minutes", "Waits that were scheduled before the next submission, in minutes.", backoffBuckets...),
		scheduled:   map[retry.Class]*[mostAttempts]prometheus.Counter{},
		maxExceeded: r.counter("max_retries_exceeded_total", "Claims whose retries were used up, passed to the billing team."),
		permanent:   r.counters("permanent_errors_total", "Claims stopped by a permanent error, by the matched code.", "code"),
		rnBIL004:    newRNBIL004(r),
		policies:    newPolicies(r),
		success:     newSuccess(r),
		traffic:     newTraffic(r),
		broker:      newBroker(r),
		trail:       newTrail(r),
		open:        newOpen(r),
	}
	scheduled := r.counters("retry_scheduled_total",
		"Retries that were scheduled, by the class of the error and by which retry of the claim it is.", "classification", "attempt")
	for _, class := range []retry.Class{retry.Transient, retry.Unknown} {
		m.scheduled[class] = &[mostAttempts]prometheus.Counter{}
		for i := range mostAttempts {
			m.scheduled[class][i] = scheduled.WithLabelValues(string(class), attempt(i+1))
		}
	}
	m.Know(known)
	return m
}

// backoffBuckets are the steps of the schedule and the edges of their jitter bands, in minutes.
var backoffBuckets = []float64{5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 240}

// mostAttempts is the last value of the label attempt, which stands for all after it too.
const mostAttempts = 10

// attempt returns the label of the n-th retry of a claim.
func attempt(n int) string {
	if n >= mostAttempts {
		return strconv.Itoa(mostAttempts) + "+"
	}
	return strconv.Itoa(n)
}

// Decided counts a decision and the time that it took.
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
func (m *Metrics) Rejected(elapsed time.Duration) { m.analysis.Observe(elapsed.Seconds()) }

// registrar makes metrics and registers them.
type registrar struct{ prometheus.Registerer }

func register[C prometheus.Collector](r registrar, c C) C {
	r.MustRegister(c)
	return c
}

func (r registrar) counter(name, help string) prometheus.Counter {
	return register(r, prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help}))
}

func (r registrar) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
}

func (r registrar) gauge(name, help string) prometheus.Gauge {
	return register(r, prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help}))
}

func (r registrar) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels))
}

// gaugeFunc registers a gauge that is computed at every scrape.
func (r registrar) gaugeFunc(name, help string, labels prometheus.Labels, value func() float64) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, value))
}

func (r registrar) histogram(name, help string, buckets ...float64) prometheus.Histogram {
	return register(r, prometheus.NewHistogram(histogramOptions(name, help, buckets)))
}

func (r registrar) histograms(name, help, label string, buckets ...float64) *prometheus.HistogramVec {
	return register(r, prometheus.NewHistogramVec(histogramOptions(name, help, buckets), []string{label}))
}

// histogramOptions returns those of a histogram with these bounds, and with native buckets for a server that takes them: each
// a tenth wider than the one before. 160 of them span all that is measured here with room to spare.
func histogramOptions(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
	}
}
