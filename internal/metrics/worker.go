package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// The results of submissions: those that were decided about, and those that were accepted.
const (
	failed   = "failed"
	accepted = "accepted"
)

// submitted counts the n-th submission of a round, counted from 1.
func (m *Metrics) submitted(policy, result string, n int) {
	m.add(submissions, 1, policy, result, attemptNumbers[min(max(n, 1), len(attemptNumbers))-1])
}

// Decided counts a decision about a job of this type, and the time that it took.
func (m *Metrics) Decided(jobType string, d retry.Decision, elapsed time.Duration) {
	m.see(d.Policy)
	m.observe(analysis, elapsed.Seconds(), d.Policy)
	for _, variable := range d.Ignored {
		m.add(ignored, 1, d.Policy, variable)
	}
	// RN-BIL-004 section 13.4 has names of its own.
	waits, exceeded, is004 := backoff, maxExceeded, jobType == contract.BackoffJobType
	if is004 {
		waits, exceeded = backoff004, maxExceeded004
		m.add(classes004, 1, d.Policy, string(d.Error.Class))
	}
	if d.Outcome != retry.OutcomeRetry {
		m.submitted(d.Policy, failed, d.RetryCount+1)
		m.add(deadLetters, 1, d.Policy)
		if d.Outcome == retry.OutcomeExhausted {
			m.add(exceeded, 1, d.Policy)
		} else if !is004 {
			m.add(permanent, 1, d.Policy, d.Error.Label(), d.Error.Team)
		}
		return
	}
	m.submitted(d.Policy, failed, d.RetryCount) // which counts the retry that follows already
	m.observe(waits, d.Backoff.Minutes(), d.Policy)
	if is004 {
		m.add(retries004, 1, d.Policy)
	} else {
		m.add(scheduled, 1, d.Policy, string(d.Error.Class))
	}
	if slices.Contains(d.Bounds, retry.BoundMax) {
		m.add(atMaximum, 1, d.Policy)
	}
	if d.Step == retry.StepBackoff && !slices.Contains(d.Bounds, retry.BoundDeadline) && d.Delay > 0 {
		m.observe(jitter, math.Abs(float64(d.Backoff-d.Delay))/float64(d.Delay), d.Policy)
	}
}

// Rejected counts a job whose input was invalid. The policy is empty where the input does not show which one
// would have decided.
func (m *Metrics) Rejected(policy string, elapsed time.Duration) {
	policy = cmp.Or(policy, claims.NoPolicy)
	m.see(policy)
	m.observe(analysis, elapsed.Seconds(), policy)
}

// OutcomeRecorded counts a round of submissions that ended with the claim's acceptance.
func (m *Metrics) OutcomeRecorded(r *audit.Record) {
	if r.Kind != audit.KindSubmitted {
		return
	}
	policy := cmp.Or(r.Policy, claims.NoPolicy)
	m.see(policy)
	m.observe(attempts, float64(r.Course.Attempts), policy)
	facts, _ := r.Facts() // it was written a moment ago
	m.submitted(policy, accepted, facts.Attempts)
	if f := r.Course.Flags; f.Has(audit.CourseFailed) && f.Has(audit.CourseRetried|audit.CourseByPerson) {
		m.observe(timeToSuccess, float64(r.Course.Seconds), policy)
	}
}

// Polled counts a poll by the name of its code, one of those that gRPC defines.
func (m *Metrics) Polled(code string) { m.add(polls, 1, code) }

// HandlerFailed counts a call of the handler that panicked or hung.
func (m *Metrics) HandlerFailed() { m.add(panics, 1) }

// Answered counts an answer and what became of it.
func (m *Metrics) Answered(answer job.Answer, result job.Result) {
	m.add(answers, 1, string(answer.Kind), string(result))
}

// Repeated counts a job that was given its stored answer again.
func (m *Metrics) Repeated() { m.add(repeated, 1) }

// StoreFailed counts a try to write to the store that failed.
func (m *Metrics) StoreFailed() { m.add(storeErrors, 1) }

// Published counts events that were sent, those that the queue has acknowledged and the others.
func (m *Metrics) Published(acked, unacked int) {
	m.add(published, acked)
	m.add(publishErrors, unacked)
}

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

// ClaimsCounted notes where the open claims are, and the share of retried claims that succeeded, by policy.
// Either is nil where it is not known: 0 would say that none is open.
func (m *Metrics) ClaimsCounted(census claims.Census, rates map[string]float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, row := range []*metric{openClaims, oldestClaim, longestInState, successRate} {
		m.series[row].Reset()
	}
	for policy, rate := range rates {
		m.set(successRate, rate, policy)
	}
	if census == nil {
		return
	}
	for _, policy := range slices.AppendSeq(slices.Collect(maps.Keys(census)), maps.Keys(m.seen)) {
		for _, standing := range claims.OpenStandings() {
			n := census[policy][standing]
			m.set(openClaims, float64(n.Claims), policy, string(standing))
			m.set(oldestClaim, secondsSince(n.Oldest), policy, string(standing))
			m.set(longestInState, secondsSince(n.Longest), policy, string(standing))
		}
	}
}

// Built notes the version of the worker's build.
func (m *Metrics) Built(version string) { m.set(buildInfo, 1, version) }

// Up notes whether polls for jobs reach the gateway, and whether the store takes writes.
func (m *Metrics) Up(gateway, store bool) {
	m.set(gatewayUp, number(gateway))
	m.set(storeUp, number(store))
}

// Active notes how many jobs of a type are active.
func (m *Metrics) Active(jobType string, jobs int) { m.set(jobsActive, float64(jobs), jobType) }
