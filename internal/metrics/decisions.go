package metrics

import (
	"cmp"
	"math"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// The results of submissions: those that were decided about, and those that were accepted.
const (
	failed   = "failed"
	accepted = "accepted"
)

// submitted counts the n-th submission of a claim, counted from 1.
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
			m.add(permanent, 1, d.Policy, d.Error.Label)
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
	m.submitted(policy, accepted, r.Course.Attempts)
	if f := r.Course.Flags; f.Has(audit.CourseFailed) && f.Has(audit.CourseRetried|audit.CourseByPerson) {
		m.observe(timeToSuccess, float64(r.Course.Seconds), policy)
	}
}
