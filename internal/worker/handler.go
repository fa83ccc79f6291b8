// Package worker turns batches of `analyze-retry` jobs into answers: it reads the process variables, asks the rule,
// and words the outcome for the process model. It knows jobs and the rule, but no broker.
package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/retry"
)

// JobType is the job type of the service task in the process model.
const JobType = "analyze-retry"

// FetchVariables are the process variables that a job must bring: exactly what is read. To fetch all of them would let
// a foreign variable that is nested too deep stop the whole job type.
func FetchVariables() []string {
	return []string{"claimId", "submissionError", "retryCount", "lastSubmissionTime"}
}

// Observer is told of every job's outcome and how long it took to find.
type Observer interface {
	// Decided is called for every decision.
	Decided(d retry.Decision, elapsed time.Duration)
	// Rejected is called for every job whose input was invalid.
	Rejected(elapsed time.Duration)
}

// Handler answers `analyze-retry` jobs by a policy.
type Handler struct {
	policy   *retry.Policy
	zone     *time.Location
	now      func() time.Time
	observer Observer
	log      *zap.Logger
}

// NewHandler makes a handler. It fails where the policy names a time zone that does not exist.
func NewHandler(policy *retry.Policy, now func() time.Time, observer Observer, log *zap.Logger) (*Handler, error) {
	zone, err := time.LoadLocation(policy.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", policy.Name, err)
	}
	return &Handler{policy: policy, zone: zone, now: now, observer: observer, log: log}, nil
}

// Handle answers each job of the batch. It does not block, so the context is not asked.
func (h *Handler) Handle(_ context.Context, jobs []job.Job) []job.Answer {
	answers := make([]job.Answer, len(jobs))
	for i := range jobs {
		answers[i] = h.answer(&jobs[i])
	}
	return answers
}

func (h *Handler) answer(j *job.Job) job.Answer {
	started := h.now()
	request, err := decode(j, h.zone)
	if err != nil {
		return h.reject(j, err, started)
	}
	decision, err := h.policy.Decide(request, started)
	if err != nil {
		return h.reject(j, err, started)
	}
	elapsed := h.now().Sub(started)
	h.observer.Decided(decision, elapsed)
	h.logDecision(j, request.ClaimID, decision, elapsed)

	variables := encode(decision, request)
	if code := decision.ErrorCode(); code != "" {
		return job.ThrowError(code, stopMessage(request.ClaimID, decision), variables)
	}
	return job.Complete(variables)
}

// reject turns invalid input into an incident: an operator sees it, corrects the variables and resolves it. The job is
// never completed and no BPMN error is thrown, because the model has no answer to a wiring mistake.
func (h *Handler) reject(j *job.Job, err error, started time.Time) job.Answer {
	elapsed := h.now().Sub(started)
	h.observer.Rejected(elapsed)
	if invalid := (*retry.InvalidInputError)(nil); !errors.As(err, &invalid) {
		// Cannot happen: decoding and deciding have no other error. A text that is not made for it must not leave
		// the process, it could repeat personal data.
		err = errors.New("invalid input")
	}
	h.log.Warn("input_rejected",
		zap.Int64("jobKey", j.Key),
		zap.Int64("processInstanceKey", j.ProcessInstanceKey),
		zap.String("elementId", j.ElementID),
		zap.String("error", err.Error()))
	return job.Incident(err.Error())
}

// stopMessage is what a BPMN error says to the person who finds it, uncaught, in an incident. It names the rule's code
// rather than the insurer's text, which may carry personal data.
func stopMessage(claimID string, d retry.Decision) string {
	if d.Outcome == retry.OutcomePermanent {
		return fmt.Sprintf("claim %s: %s does not pass by itself; correct the data, then resubmit or abandon the claim", claimID, d.Rule.Code)
	}
	return fmt.Sprintf("claim %s: all %d retries used, last error %s; review the claim, then resubmit or abandon it", claimID, d.MaxRetries, lastError(d.Rule))
}

func lastError(r retry.Rule) string {
	if r.Code == "" {
		return string(r.Class)
	}
	return r.Code + " (" + string(r.Class) + ")"
}

// logDecision writes the one line of a decision, with the field names of RN-BIL-005 section 13.4. `submissionError` is
// the code that matched: the insurer's text itself may carry personal data and is never logged.
func (h *Handler) logDecision(j *job.Job, claimID string, d retry.Decision, elapsed time.Duration) {
	level, event := zap.InfoLevel, "retry_scheduled"
	switch {
	case d.Outcome == retry.OutcomeExhausted:
		event = "max_retries_exceeded"
	case d.Outcome == retry.OutcomePermanent:
		event = "permanent_error_detected"
	case d.Rule.Class == retry.Unknown:
		level = zap.WarnLevel // RN-BIL-005 section 2.1: an unknown error is retried, with a warning
	}
	line := h.log.Check(level, event)
	if line == nil {
		return
	}
	nextRetryTime := zap.Skip()
	if !d.NextRetryTime.IsZero() {
		nextRetryTime = zap.String("nextRetryTime", d.NextRetryTime.Format(time.RFC3339))
	}
	line.Write(
		zap.String("claimId", claimID),
		zap.String("submissionError", d.Rule.Code),
		zap.String("errorClassification", string(d.Rule.Class)),
		zap.Int("retryCount", d.RetryCount),
		zap.Int("maxRetries", d.MaxRetries),
		zap.Int64("backoffMinutes", int64(d.Backoff/time.Minute)),
		nextRetryTime,
		zap.Float64("executionTimeMs", float64(elapsed.Microseconds())/1000),
		zap.Int64("jobKey", j.Key),
		zap.Int64("processInstanceKey", j.ProcessInstanceKey),
	)
}
