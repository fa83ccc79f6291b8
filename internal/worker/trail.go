package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/failpoint"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry"
)

// unavailable hands all jobs back with their retries unchanged: nothing is answered that is not stored.
func (t *Trail) unavailable(jobs []job.Job) []job.Answer {
	answers := make([]job.Answer, len(jobs))
	for i := range answers {
		answers[i] = job.Release("released: the audit store is not available")
	}
	return answers
}

// ask asks the store and waits for it no longer than ctx lasts: a disk that hangs minds no context, and a handler that is
// late uses up one of its job's retries. A store that fails or hangs is noted as lost, so that no more jobs are taken.
func ask[T any](ctx context.Context, t *Trail, question func(context.Context) (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	asked, replied := time.Now(), make(chan reply, 1)
	go func() {
		value, err := question(ctx)
		replied <- reply{value, err}
	}()
	var r reply
	select {
	case r = <-replied:
	case <-ctx.Done():
		r.err = ctx.Err()
	}
	// Who comes with no time left has learnt nothing about the store.
	if r.err != nil && (ctx.Err() == nil || time.Since(asked) > hangs) {
		t.Recorder.Lost(r.err)
	}
	return r.value, r.err
}

// hangs is how long a question to the store may take at the most. It is less than a handler has with a lock of 2 s.
const hangs = 800 * time.Millisecond

// addFirstFailures looks up since when claims fail, of those that need to know and do not yet: their deadline counts from
// there, or their end tells it (RN-BIL-005 section 12.3).
func (h *Handler) addFirstFailures(ctx context.Context, rulings []ruling, needs func(*ruling) bool) error {
	var asked []int
	var claims []string
	for i := range rulings {
		if r := &rulings[i]; r.invalid == nil && r.request.FirstFailure.IsZero() && needs(r) {
			asked, claims = append(asked, i), append(claims, r.request.ClaimID)
		}
	}
	first, err := ofClaims(ctx, &h.opt.Trail, claims, h.opt.Trail.Rounds.FirstFailures)
	if err != nil {
		return err
	}
	for n, i := range asked {
		rulings[i].request.FirstFailure = first[n]
	}
	return nil
}

// ofClaims asks about all these claims at once; where there are none, nothing is asked.
func ofClaims[T any](ctx context.Context, t *Trail, claims []string, question func(context.Context, []string) ([]T, error)) ([]T, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	return ask(ctx, t, func(ctx context.Context) ([]T, error) { return question(ctx, claims) })
}

// record is what is to be stored of a job: its input without personal data, what was decided, and the answer.
func (h *Handler) record(j *job.Job, r *ruling) audit.Record {
	record := audit.Record{
		Kind:       audit.KindRejected,
		At:         r.at.UTC().Truncate(time.Microsecond),
		Key:        h.opt.Trail.key(j, r.inputs),
		ClaimID:    r.request.ClaimID,
		RetryCount: r.request.RetryCount,
	}
	detail := audit.Detail{
		ProcessID: j.ProcessID, ElementID: j.ElementID,
		SubmissionError: storedError(r.request.SubmissionError),
		Steps:           r.steps(j),
		ExecutionTimeMs: milliseconds(r.elapsed),
	}
	if r.invalid != nil {
		record.Message = rejection(r.invalid)
		detail.Steps = nil
	} else {
		d := &r.decision
		record.Kind, record.NextRetryTime = kinds[d.Outcome], d.NextRetryTime
		record.Variables = h.output.encode(d)
		if d.Outcome != retry.OutcomeRetry {
			record.Message = stopMessage(r.request.ClaimID, d)
		}
		if d.Outcome == retry.OutcomeExhausted {
			detail.Attempts = r.request.RetryCount + 1
			if first := r.request.FirstFailure; !first.IsZero() {
				detail.FirstFailureTime = &first
			}
		}
	}
	record.Detail = encodeDetail(&detail)
	if r.invalid == nil {
		record.Detail = h.output.detail(record.Detail, &r.decision)
	}
	return record
}

var kinds = map[retry.Outcome]audit.Kind{
	retry.OutcomeRetry: audit.KindRetry, retry.OutcomeExhausted: audit.KindExhausted, retry.OutcomePermanent: audit.KindPermanent,
}

// key is by what a job is known again: the same job with the same inputs, and nothing else.
func (t *Trail) key(j *job.Job, inputs [16]byte) audit.Key {
	return audit.Key{Cluster: t.Cluster, JobKey: j.Key, ProcessInstanceKey: j.ProcessInstanceKey, Inputs: inputs}
}

// steps are the times of the six steps of a decision (RN-BIL-005 section VII).
func (r *ruling) steps(j *job.Job) *audit.Steps {
	received := j.Received
	if received.IsZero() || received.After(r.at) {
		received = r.at
	}
	decided, scheduled := r.at.Sub(received).Microseconds(), (r.at.Sub(received) + r.elapsed).Microseconds()
	return &audit.Steps{
		ErrorReceived: received.UTC().Truncate(time.Microsecond),
		AfterMicros:   [6]int64{0, decided, decided, decided, decided, scheduled},
	}
}

// maxStoredError is how much of the error text is kept for audit; reach is how much further personal data is looked
// for, so that none is cut in two and kept in part.
const (
	maxStoredError = 8 << 10
	reach          = 512
)

// storedError is the insurer's text as it may be kept: without personal data, at most maxStoredError bytes.
func storedError(text string) string {
	if len(text) <= maxStoredError+reach {
		return cutTo(redact.Text(text), maxStoredError)
	}
	// What was cut in two is within reach of the end, wherever that has moved to: marks are shorter than what they hide.
	redacted := redact.Text(cutTo(text, maxStoredError+reach))
	return cutTo(redacted, min(max(len(redacted)-reach, 0), maxStoredError))
}

// rejection is the text of the incident for an invalid input. It holds shapes of values, never values.
func rejection(err error) string {
	if invalid := (*retry.InvalidInputError)(nil); errors.As(err, &invalid) {
		return invalid.Error()
	}
	// Cannot happen: decoding and deciding have no other error. A text that is not made for it must not leave the
	// process, it could repeat personal data.
	return "invalid input"
}

// stopMessage is what a BPMN error says to the person who finds it, uncaught, in an incident. It names the rule's code
// rather than the insurer's text, which may carry personal data.
func stopMessage(claimID string, d *retry.Decision) string {
	if d.Outcome == retry.OutcomePermanent {
		return fmt.Sprintf("claim %s: %s does not pass by itself; correct the data, then resubmit or abandon the claim", claimID, d.Error.Found())
	}
	if d.Step == retry.StepDeadline {
		return fmt.Sprintf("claim %s: no retry fits before the deadline %s, last error %s; review the claim, then resubmit or abandon it",
			claimID, d.Deadline.Format(time.RFC3339), lastError(d.Error))
	}
	return fmt.Sprintf("claim %s: all %d retries used, last error %s; review the claim, then resubmit or abandon it", claimID, d.MaxRetries, lastError(d.Error))
}

func lastError(r retry.Classification) string {
	if r.Code == "" {
		return string(r.Class)
	}
	return r.Code + " (" + string(r.Class) + ")"
}

// answer words a stored record for the broker. It is the same whoever sends it, and however often: only the error text
// is not stored, and that comes from the job itself. Only a decision has an output and a request.
func (t *Trail) answer(j *job.Job, stored *audit.Record, out *output, request *retry.Request) job.Answer {
	if stored.ID == 0 {
		return job.Fail(j.Retries-1, "the worker's audit store refused this decision although it takes others; its log says why")
	}
	var a job.Answer
	switch stored.Kind {
	case audit.KindRetry:
		a = job.Complete(out.echo(stored.Variables, request))
	case audit.KindExhausted:
		a = job.ThrowError(retry.CodeMaxRetriesExceeded, stored.Message, out.echo(stored.Variables, request))
	case audit.KindPermanent:
		a = job.ThrowError(retry.CodePermanentError, stored.Message, out.echo(stored.Variables, request))
	case audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned, audit.KindRedriven:
		a = job.Complete(stored.Variables)
	case audit.KindRejected, audit.KindUndelivered:
		// An incident: an operator sees it, corrects the variables and resolves it. The job is never completed and no
		// BPMN error is thrown, because the model has no answer to a wiring mistake.
		a = job.Incident(stored.Message)
	}
	return t.settled(a, stored)
}

// settled notes in the trail what becomes of the answer.
func (t *Trail) settled(a job.Answer, stored *audit.Record) job.Answer {
	return a.Then(func(f job.Result) {
		switch f {
		case job.Accepted:
			failpoint.At(failpoint.Answered, stored.ClaimID)
			t.Recorder.Answered(stored.ID)
		case job.NotFound:
			t.Recorder.Gone(*stored)
		case job.Unknown: // it comes again
		}
	})
}
