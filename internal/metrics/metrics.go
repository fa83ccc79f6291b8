// Package metrics holds every Prometheus metric of the worker, each a row of one table. The names that
// RN-BIL-005 and RN-BIL-004, both section 13.4, fix are kept. Labels hold closed sets only, never a claim or
// an error text. Every series of a policy in use exists from the start, so that a rate over it is 0 rather
// than absent.
package metrics

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/retry"
)

// NewRegistry returns a registry with the metrics of the Go runtime and the process.
func NewRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return reg
}

// Metrics counts what the worker does. It is safe for use by several goroutines.
type Metrics struct {
	// series are those of each row of the table.
	series map[*metric]*prometheus.MetricVec

	mu      sync.Mutex
	inForce []*retry.Policy
	seen    map[string]bool // the policies that have their series
}

// New registers the metrics with reg. The series of the policies in use exist from then on; those of another
// one, from its first decision. It panics if reg has metrics of these names already.
func New(reg prometheus.Registerer, inForce []*retry.Policy, inUse ...string) *Metrics {
	m := &Metrics{series: map[*metric]*prometheus.MetricVec{}, seen: map[string]bool{}}
	for _, row := range table {
		var labels []string
		for _, l := range row.labels {
			labels = append(labels, l.name)
		}
		m.series[row] = row.make(*row, labels)
		reg.MustRegister(m.series[row])
		m.start(row)
	}
	m.set(reloaded, 1)
	m.set(intact, math.NaN())
	for _, row := range []*metric{analysis, timeToSuccess, attempts} {
		m.start(row, claims.NoPolicy)
	}
	m.start(submissions, claims.NoPolicy, accepted)
	m.Know(inForce)
	for _, policy := range inUse {
		m.see(policy)
	}
	return m
}

// Know notes the policies in force, which are those of the file after a reload.
func (m *Metrics) Know(inForce []*retry.Policy) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inForce = inForce
	m.series[targets].Reset()
	m.know()
}

// know makes the series of the rules and the targets of the policies that are seen.
func (m *Metrics) know() {
	for _, p := range m.inForce {
		if !m.seen[p.Name] {
			continue
		}
		for i := range p.Rules {
			if p.Rules[i].Class == retry.Permanent {
				m.of(permanent, p.Name, p.Rules[i].Label(), p.Rules[i].Team)
			}
		}
		for _, t := range p.Targets {
			m.set(targets, t.Value, p.Name, t.KPI, t.Source)
		}
	}
}

// see makes the series of a policy that is new.
func (m *Metrics) see(policy string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen[policy] || policy == claims.NoPolicy {
		return
	}
	m.seen[policy] = true
	for _, row := range table {
		if len(row.labels) > 0 && row.labels[0].each {
			m.start(row, policy)
		}
	}
	m.know()
}

// start makes the series of a row with these values of its first labels, and all known ones of the others.
func (m *Metrics) start(row *metric, values ...string) {
	if len(values) == len(row.labels) {
		m.of(row, values...)
		return
	}
	for _, value := range row.labels[len(values)].values {
		m.start(row, append(slices.Clip(values), value)...)
	}
}

// of returns one series of a row. It makes the series if it is new.
func (m *Metrics) of(row *metric, values ...string) prometheus.Metric {
	one, err := m.series[row].GetMetricWithLabelValues(values...)
	if err != nil {
		panic(err) // a mistake of the caller
	}
	return one
}

func (m *Metrics) add(row *metric, n int, values ...string) {
	m.of(row, values...).(prometheus.Counter).Add(float64(n))
}

func (m *Metrics) set(row *metric, value float64, values ...string) {
	m.of(row, values...).(prometheus.Gauge).Set(value)
}

func (m *Metrics) observe(row *metric, value float64, values ...string) {
	m.of(row, values...).(prometheus.Observer).Observe(value)
}

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
