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
	if jobType == contract.BackoffJobType {
		m.decided004(&d)
	} else {
		m.decided005(&d)
	}
	if d.Outcome != retry.OutcomeRetry {
		m.submitted(d.Policy, failed, d.RetryCount+1)
		m.add(deadLetters, 1, d.Policy)
		return
	}
	m.submitted(d.Policy, failed, d.RetryCount) // which counts the retry that follows already
	if slices.Contains(d.Bounds, retry.BoundMax) {
		m.add(atMaximum, 1, d.Policy)
	}
	if d.Step == retry.StepBackoff && !slices.Contains(d.Bounds, retry.BoundDeadline) && d.Delay > 0 {
		m.observe(jitter, math.Abs(float64(d.Backoff-d.Delay))/float64(d.Delay), d.Policy)
	}
}

func (m *Metrics) decided005(d *retry.Decision) {
	switch d.Outcome {
	case retry.OutcomeRetry:
		m.observe(backoff, d.Backoff.Minutes(), d.Policy)
		m.add(scheduled, 1, d.Policy, string(d.Error.Class))
	case retry.OutcomeExhausted:
		m.add(maxExceeded, 1, d.Policy)
	case retry.OutcomePermanent:
		m.add(permanent, 1, d.Policy, d.Error.Label)
	}
}

func (m *Metrics) decided004(d *retry.Decision) {
	m.add(classes004, 1, d.Policy, string(d.Error.Class))
	switch d.Outcome {
	case retry.OutcomeRetry:
		m.add(retries004, 1, d.Policy)
		m.observe(backoff004, d.Backoff.Minutes(), d.Policy)
	case retry.OutcomeExhausted:
		m.add(maxExceeded004, 1, d.Policy)
	case retry.OutcomePermanent:
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
