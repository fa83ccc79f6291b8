// Package metrics holds every Prometheus metric of the worker. The names are those of RN-BIL-005 section 13.4, with
// which the dashboards of the hospital were agreed; labels hold closed sets only, never a claim or an error text, and
// every series exists from the start, so that a rate over it is 0 rather than absent.
package metrics

import (
	"iter"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
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
	decisions decisions
	outcomes  outcomes
	policies  policies
	traffic   traffic
	broker    broker
	trail     trail
	open      *openClaims
}

// New registers the metrics with reg, with the labels of the policies, see [Metrics.Know]. It panics if reg has metrics of these names
// already.
func New(reg prometheus.Registerer, known iter.Seq[*retry.Policy]) *Metrics {
	r := registrar{reg}
	submissions := r.counters("retry_submissions_total",
		"Submissions whose result is known, by the policy, by which one of the claim it is, and by its result; the first ones that are accepted count under the policy none.",
		labelPolicy, labelAttempt, "result")
	m := &Metrics{
		decisions: newDecisions(r, submissions),
		outcomes:  newOutcomes(r, submissions),
		policies:  newPolicies(r),
		traffic:   newTraffic(r),
		broker:    newBroker(r),
		trail:     newTrail(r),
	}
	m.open = newOpenClaims(r)
	m.Know(known)
	return m
}

// The labels of what is counted about claims.
const (
	labelPolicy  = "policy"
	labelAttempt = "attempt"
)

// noPolicy is the value of the label policy where no policy has decided: of rounds that never failed, and of input that names none.
const noPolicy = "none"

// byPolicy holds the series of each policy. They are looked up once, so that a decision is counted without a look-up by labels.
type byPolicy[T any] struct {
	series func(policy string) *T
	mu     sync.Mutex
	known  atomic.Pointer[map[string]*T]
}

func newByPolicy[T any](series func(policy string) *T) *byPolicy[T] {
	b := &byPolicy[T]{series: series}
	b.known.Store(&map[string]*T{})
	return b
}

// of returns the series of a policy, and makes them where they are new.
func (b *byPolicy[T]) of(policy string) *T {
	if s := (*b.known.Load())[policy]; s != nil {
		return s
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known := maps.Clone(*b.known.Load())
	if known[policy] == nil {
		known[policy] = b.series(policy)
		b.known.Store(&known)
	}
	return known[policy]
}

// mostAttempts is the last value of the label attempt, which stands for all after it too.
const mostAttempts = 10

// attempts are the series of one metric by its label attempt.
type attempts [mostAttempts]prometheus.Counter

func newAttempts(of *prometheus.CounterVec, labels prometheus.Labels) (a attempts) {
	of = of.MustCurryWith(labels)
	for i := range a {
		value := strconv.Itoa(i + 1)
		if i+1 == mostAttempts {
			value += "+"
		}
		a[i] = of.WithLabelValues(value)
	}
	return a
}

// of returns the series of the n-th attempt, counted from 1.
func (a *attempts) of(n int) prometheus.Counter { return a[min(max(n, 1), mostAttempts)-1] }

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

// histograms registers a histogram for each policy, with native buckets for a server that takes them: each a tenth wider than
// the one before. 160 of them span all that is measured here with room to spare.
func (r registrar) histograms(name, help string, buckets ...float64) *prometheus.HistogramVec {
	return register(r, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
	}, []string{labelPolicy}))
}
