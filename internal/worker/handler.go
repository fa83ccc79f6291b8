package worker

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// evaluation is what was found about one job, before it is stored.
type evaluation struct {
	input.Decision
	job      *job.Job
	decision retry.Decision
	// at is when the rule was asked, elapsed how long it took from there.
	at      time.Time
	elapsed time.Duration
	// redacted is the error text without personal data, record what is stored where the trail changes nothing
	// about it.
	redacted string
	record   audit.Record
	// last is the evaluation by what the trail knows: this one where that changes nothing.
	last *evaluation
}

// Decide is the handler of jobs of JobType. It decides the jobs of the batch, stores the decisions, and
// answers with what is stored: the new decision, or the one that this job got before.
func (w Worker) Decide(ctx context.Context, jobs []job.Job) []job.Answer {
	policies, evaluations := w.Policies(), make([]evaluation, len(jobs))
	entries := make([]audit.Entry, len(jobs))
	for i := range jobs {
		e := &evaluations[i]
		e.job, e.at = &jobs[i], w.Now()
		e.Decision = input.ReadDecision(e.job, policies, w.JobTypes[w.JobType])
		said := errtext.Read(e.Request.SubmissionError) // once, for the rule and the record
		if e.Invalid == nil {
			e.decision = e.Policy.DecideRead(said, e.Request, e.at)
		}
		e.elapsed = w.Now().Sub(e.at)
		e.redacted = redact.Read(said)
		said.Free()
		entries[i] = w.entry(e)
	}
	return w.record(ctx, jobs, entries, func(i int, r *audit.Record, isNew bool) string {
		if isNew {
			w.observe(evaluations[i].last, r)
		}
		return contract.AnswerTo(w.JobType, r.Variables, shorten(evaluations[i].Request.SubmissionError))
	})
}

// entry returns what is to be recorded of a job. It is made here; what the trail knows of the claim seldom
// changes what comes of it.
func (w *Worker) entry(e *evaluation) audit.Entry {
	key := w.key(e.job, e.Identity...)
	e.record = w.recordOf(e)
	return audit.Entry{Key: key, ClaimID: e.Request.ClaimID, Make: func(state audit.State) audit.Record {
		if e.last = e.consider(&state, key); e.last == e {
			return e.record
		}
		return w.recordOf(e.last)
	}}
}

// consider decides again by what the trail knows of the claim, where that changes something. A deadline
// counts from the first failure, which is reported with the end of the retries too (RN-BIL-005 section 12.3);
// and of the model's and the trail's count the greater one counts, because a process can lose its own.
func (e *evaluation) consider(state *audit.State, key audit.Key) *evaluation {
	if e.Invalid != nil {
		return e
	}
	retried := state.Retried(key)
	lost := e.decision.Outcome != retry.OutcomePermanent && retried > e.Request.RetryCount
	over := e.decision.Outcome == retry.OutcomeExhausted
	if !lost && (state.FirstFailure.IsZero() || e.Policy.Deadline == 0 && !over) {
		return e
	}
	again := *e
	again.Request.FirstFailure = state.FirstFailure
	if lost {
		again.Request.Retried = retried
	}
	again.decision = again.Policy.Decide(again.Request, again.at)
	return &again
}

// recordOf returns what is to be stored of a job: its error text without personal data, what was decided, and
// the answer.
func (w *Worker) recordOf(e *evaluation) audit.Record {
	words := text.In(w.Language)
	record := audit.Record{
		Kind:       audit.KindRejected,
		At:         e.at.UTC().Truncate(time.Microsecond),
		RetryCount: e.Request.RetryCount,
	}
	detail := contract.Detail{
		ProcessID:       e.job.ProcessID,
		ElementID:       e.job.ElementID,
		SubmissionError: e.redacted,
		ExecutionTimeMs: milliseconds(e.elapsed),
	}
	if e.Policy != nil {
		record.Policy = e.Policy.Name
	}
	if e.Invalid != nil {
		detail.Policy = record.Policy
		record.Message, record.Detail = words.Text(e.Invalid.Text()), detail.Encode()
		return record
	}
	d := &e.decision
	detail.Steps = e.steps()
	answer := contract.Of(d, w.JobType, w.Language)
	with := &answer.RetryDecision.With
	switch d.Outcome {
	case retry.OutcomeExhausted:
		*with, detail.Attempts = e.OnExhausted, d.RetryCount+1
		detail.FirstFailureTime = e.Request.FirstFailure
	case retry.OutcomePermanent:
		*with = cmp.Or(*with, e.OnPermanent)
	case retry.OutcomeRetry:
	}
	if d.Outcome != retry.OutcomeRetry {
		record.Message = words.Text(stopMessage(e.Request.ClaimID, d))
	}
	record.Kind, record.HeldBy = audit.KindOf(string(d.Outcome)), *with
	record.NextRetryTime, record.RetryCount, record.MaxRetries = d.NextRetryTime, d.RetryCount, d.MaxRetries
	record.Class, record.Rule, record.Code = d.Error.Class, d.Error.ID, d.Error.Code
	record.Variables, record.Detail = answer.Encode(), detail.Encode()
	return record
}

// steps returns the times of the six steps of a decision (RN-BIL-005 section VII).
func (e *evaluation) steps() *contract.Steps {
	waited := e.at.Sub(e.job.Received)
	decided, scheduled := waited.Microseconds(), (waited + e.elapsed).Microseconds()
	return &contract.Steps{
		ErrorReceived: e.job.Received.UTC().Truncate(time.Microsecond),
		AfterMicros:   [6]int64{0, decided, decided, decided, decided, scheduled},
	}
}

// observe counts and logs what is new.
func (w *Worker) observe(e *evaluation, r *audit.Record) {
	if e.Invalid != nil {
		w.Observer.Rejected(r.Policy, e.elapsed)
		w.warn(e.job, r, "input_rejected", zap.Stringer("error", e.Invalid.Text()))
		return
	}
	w.Observer.Decided(w.JobType, e.decision, e.elapsed)
	for _, variable := range e.decision.Ignored { // each with the shape of its value
		w.warn(e.job, r, "input_ignored",
			zap.String("variable", variable), zap.String("value", e.Describe(variable)))
	}
	if e.decision.CountFrom == retry.CountFromTrail {
		w.warn(e.job, r, "retry_count_lost",
			zap.Int("retryCount", e.Request.RetryCount), zap.Int("recordedRetries", e.Request.Retried))
	}
	w.logDecision(e)
}

// logDecision writes the one line of a decision, with the names of RN-BIL-005 section 13.4. `submissionError`
// is the code that matched: the insurer's text itself may carry personal data and is never logged.
func (w *Worker) logDecision(e *evaluation) {
	d := &e.decision
	level, event := zap.InfoLevel, "retry_scheduled"
	switch {
	case d.Outcome == retry.OutcomeExhausted:
		level, event = zap.ErrorLevel, "max_retries_exceeded" // RN-BIL-005 section 2.1: LOG ERRO
	case d.Outcome == retry.OutcomePermanent:
		level, event = zap.WarnLevel, "permanent_error_detected"
	case w.JobType == contract.BackoffJobType:
		event = "submission_retry_scheduled" // RN-BIL-004 section 13.4
	}
	if d.Outcome == retry.OutcomeRetry && d.Error.Class == retry.Unknown {
		level = zap.WarnLevel // RN-BIL-005 section 2.1: an unknown error is retried, with a warning
	}
	// One field to the logger, which makes room for each field of a line, and a line is written for every
	// job.
	fields := zapcore.ObjectMarshalerFunc(func(line zapcore.ObjectEncoder) error {
		line.AddString("claimId", e.Request.ClaimID)
		line.AddString("submissionError", d.Error.Code)
		line.AddString("errorClassification", string(d.Error.Class))
		line.AddInt("retryCount", d.RetryCount)
		line.AddInt("maxRetries", d.MaxRetries)
		line.AddInt("backoffMinutes", d.BackoffMinutes())
		if !d.NextRetryTime.IsZero() {
			line.AddString("nextRetryTime", d.NextRetryTime.Format(time.RFC3339))
		}
		line.AddString("policy", d.Policy)
		line.AddString("ruleId", d.Error.ID)
		line.AddFloat64("executionTimeMs", milliseconds(e.elapsed))
		line.AddInt64("jobKey", e.job.Key)
		line.AddInt64("processInstanceKey", e.job.ProcessInstanceKey)
		return nil
	})
	w.Logger.Log(level, event, zap.Inline(fields))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// maxOriginalError is how much of the error text is sent back to the process. A process variable is copied
// with every event of the instance; a megabyte of HTML from a proxy does not belong there.
const maxOriginalError = 8 << 10

// shorten returns an error text that is sent back, cut and marked if it is too long.
func shorten(s string) string {
	if len(s) <= maxOriginalError {
		return s
	}
	mark := " [cut at 8 KiB, was " + strconv.Itoa(len(s)) + " bytes]"
	return strings.ToValidUTF8(s[:maxOriginalError], "") + mark
}

// stopMessage returns the message of a BPMN error for the person who finds it, uncaught, in an incident. It
// names the rule's code rather than the insurer's text, which may carry personal data.
func stopMessage(claimID string, d *retry.Decision) text.Message {
	if d.Outcome == retry.OutcomePermanent {
		return text.Messagef("claim %s: %s does not pass by itself; correct the cause, "+
			"then resubmit or abandon the claim", claimID, d.Error.Cause())
	}
	last := string(d.Error.Class)
	if d.Error.Code != "" {
		last = d.Error.Code + " (" + last + ")"
	}
	why := text.Messagef("all %d retries used", d.MaxRetries)
	if d.Step == retry.StepDeadline {
		why = text.Messagef("no retry fits before the deadline %s", d.Deadline.Format(time.RFC3339))
	}
	return text.Messagef("claim %s: %s, last error %s; review the claim, then resubmit or abandon it",
		claimID, why, last)
}
