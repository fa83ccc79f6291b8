package metrics

import (
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/job"
)

// Polled counts a poll by the name of its gRPC code.
func (m *Metrics) Polled(code string) {
	if !slices.Contains(codes, code) { // a gateway may send one of its own
		code = "Unknown"
	}
	m.add(polls, 1, code)
}

// HandlerFailed counts a call of the handler that panicked or hung.
func (m *Metrics) HandlerFailed() { m.add(panics, 1) }

// Answered counts an answer and what became of it.
func (m *Metrics) Answered(_ int64, answer job.Answer, result job.Result) {
	m.add(answers, 1, answer.Kind.String(), result.String())
}

// Repeated counts a job that was given its stored answer again.
func (m *Metrics) Repeated() { m.add(repeated, 1) }

// StoreFailed counts a try to write to the store that failed.
func (m *Metrics) StoreFailed() { m.add(storeErrors, 1) }

// Published counts events that the queue has acknowledged.
func (m *Metrics) Published(events int) { m.add(published, events) }

// PublishFailed counts events that were sent and not acknowledged.
func (m *Metrics) PublishFailed(events int) { m.add(publishErrors, events) }

// Backlog notes how many events wait to be published, and when the oldest of them was decided; the zero time
// if none waits.
func (m *Metrics) Backlog(waiting int64, oldest time.Time) {
	m.set(outboxPending, float64(waiting))
	m.set(outboxOldest, secondsSince(oldest))
}

// AuditChecked notes whether a check found the audit trail in order.
func (m *Metrics) AuditChecked(ok bool) { m.set(intact, number(ok)) }

// Reloaded notes whether the last reload of the policies succeeded.
func (m *Metrics) Reloaded(ok bool) { m.set(reloaded, number(ok)) }

// ClaimsCounted notes where the open claims are, and the share of retried claims that succeeded, by policy. Either is
// nil where it is not known: 0 would say that none is open.
func (m *Metrics) ClaimsCounted(census claims.Census, rates map[string]float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, policy := range slices.AppendSeq(slices.Collect(maps.Keys(rates)), maps.Keys(census)) {
		if _, seen := m.seen[policy]; !seen {
			m.seen[policy] = false
		}
	}
	if census == nil {
		for _, row := range []*metric{openClaims, oldestClaim, longestInState} {
			m.series[row].Reset()
		}
	}
	for policy := range m.seen {
		if rate, known := rates[policy]; known {
			m.set(successRate, rate, policy)
		} else {
			m.series[successRate].DeletePartialMatch(prometheus.Labels{"policy": policy})
		}
		for _, standing := range claims.OpenStandings() {
			if n, counted := census[policy][standing], census != nil; counted {
				m.set(openClaims, float64(n.Claims), policy, string(standing))
				m.set(oldestClaim, secondsSince(n.Oldest), policy, string(standing))
				m.set(longestInState, secondsSince(n.Longest), policy, string(standing))
			}
		}
	}
}

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
	ask(reg, gatewayUp, nil, func() float64 { return number(s.GatewayUp()) })
	ask(reg, storeUp, nil, func() float64 { return number(s.StoreUp()) })
	ask(reg, buildInfo, prometheus.Labels{"version": s.Version}, func() float64 { return 1 })
	for jobType, active := range s.ActiveJobs {
		labels := prometheus.Labels{"job_type": jobType}
		ask(reg, jobsActive, labels, func() float64 { return float64(active()) })
	}
}
