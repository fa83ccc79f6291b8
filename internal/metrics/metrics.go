// Package metrics holds every Prometheus metric of the worker. The names that RN-BIL-005 and RN-BIL-004, both
// section 13.4, fix are kept. Labels hold closed sets only, never a claim or an error text. Every series of a
// policy in use exists from the start, so that a rate over it is 0 rather than absent.
package metrics

import (
	"iter"
	"maps"
	"math"
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
	vectors vectors
	worker  workerMetrics
	open    *openClaims

	mu       sync.Mutex
	inForce  map[string]*retry.Policy
	byPolicy atomic.Pointer[map[string]*series]
}

// labelPolicy names the policy that decided. Of an outcome it is the policy of the last decision of its
// round.
const labelPolicy = "policy"

// noPolicy is the value of the label policy where no policy has decided: of rounds that never failed, and of
// input that names none.
const noPolicy = "none"

// New registers the metrics with reg. The series of the policies in use exist from then on; those of another
// policy, from its first decision. It panics if reg has metrics of these names already.
func New(reg prometheus.Registerer, inForce iter.Seq[*retry.Policy], inUse ...string) *Metrics {
	r := registrar{reg}
	m := &Metrics{vectors: newVectors(r), worker: newWorkerMetrics(r), open: register(r, newOpenClaims(inUse))}
	m.byPolicy.Store(&map[string]*series{noPolicy: m.vectors.ofNone()})
	m.Know(inForce)
	for _, name := range inUse {
		m.of(name)
	}
	return m
}

// Know notes the policies in force, which are those of the file after a reload.
func (m *Metrics) Know(inForce iter.Seq[*retry.Policy]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inForce = map[string]*retry.Policy{}
	m.vectors.targets.Reset()
	for p := range inForce {
		m.inForce[p.Name] = p
		if s := (*m.byPolicy.Load())[p.Name]; s != nil {
			m.vectors.know(s, p)
		}
	}
}

// of returns the series of a policy, and makes them if they are new. A known policy takes no lock.
func (m *Metrics) of(policy string) *series {
	if s := (*m.byPolicy.Load())[policy]; s != nil {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all := maps.Clone(*m.byPolicy.Load())
	if all[policy] == nil {
		all[policy] = m.vectors.of(policy)
		if p := m.inForce[policy]; p != nil {
			m.vectors.know(all[policy], p)
		}
		m.byPolicy.Store(&all)
	}
	return all[policy]
}

// Reloaded notes whether the last reload of the policies succeeded.
func (m *Metrics) Reloaded(successful bool) { m.worker.reloaded.Set(number(successful)) }

// Unknown returns the value of what is not known.
func Unknown() float64 { return math.NaN() }

// number returns 1 for true and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// secondsSince returns the time since an instant; 0 since the zero time, and since one that is to come.
func secondsSince(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(time.Since(t).Seconds(), 0)
}

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

// gaugeFunc registers a gauge that is computed at every scrape.
func (r registrar) gaugeFunc(name, help string, labels prometheus.Labels, value func() float64) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, value))
}

// histograms registers a histogram for each policy, with native buckets for a server that takes them: each a
// tenth wider than the one before. 160 of them span all that is measured here.
func (r registrar) histograms(name, help string, buckets ...float64) *prometheus.HistogramVec {
	return register(r, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:                            name,
		Help:                            help,
		Buckets:                         buckets,
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  160,
		NativeHistogramMinResetDuration: time.Hour,
	}, []string{labelPolicy}))
}
