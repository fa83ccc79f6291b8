// Package worker turns batches of jobs into answers: it reads the process variables, asks the rule, has the decisions
// recorded, and answers with what was recorded. It knows jobs, the rule and the audit trail, but neither
// broker nor database.
package worker

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/input"
)

// Observer counts what becomes of jobs, with how long the decision took.
type Observer interface {
	// Decided is called for every new decision. Rejected is called for every new job whose input was invalid, with the policy that
	// would have decided; empty where the input does not show it.
	Decided(d retry.Decision, elapsed time.Duration)
	Rejected(policyName string, elapsed time.Duration)
	// Repeated is called for every job that was given its stored answer again.
	Repeated()
}

// Options are what a [Handler] works by. All are required.
type Options struct {
	// JobType is the type of the jobs. It determines their output variables.
	JobType string
	// Policy names the policy of jobs whose task names none. It must be among Policies at any time.
	Policy string
	// Policies returns the policies that are known at present.
	Policies func() *policy.Set
	Trail    Trail
	Now      func() time.Time
	Observer Observer
	Logger   *zap.Logger
}

// Handler answers the jobs of one job type by policies.
type Handler struct {
	opt Options
	// lost are the process instances that were warned of, for they lose their count again at every try.
	lost instances
}

// NewHandler returns a handler.
func NewHandler(o Options) *Handler { return &Handler{opt: o} }

// instances is a set of process instances that stays small.
type instances struct {
	mu   sync.Mutex
	keys map[int64]bool
}

// add adds an instance and reports whether it is new.
func (s *instances) add(key int64) bool {
	const most = 10_000 // then it begins anew: a further warning does no harm
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil || len(s.keys) == most {
		s.keys = map[int64]bool{}
	}
	before := len(s.keys)
	s.keys[key] = true
	return len(s.keys) > before
}

// evaluation is what was found about one job, before it is stored.
type evaluation struct {
	input.Decision
	decision retry.Decision
	// at is when the rule was asked, elapsed how long it took from there.
	at      time.Time
	elapsed time.Duration
	// redacted is the error text without personal data, record what is stored where the trail changes nothing about it.
	redacted string
	record   audit.Record
	// again is the evaluation by what the trail knows, nil where that changes nothing.
	again *evaluation
}

// last returns the evaluation that was recorded.
func (e *evaluation) last() *evaluation {
	if e.again != nil {
		return e.again
	}
	return e
}

// Handle decides the jobs of the batch, stores the decisions, and answers with what is stored: the new decision, or
// the one that this job got before.
func (h *Handler) Handle(ctx context.Context, jobs []job.Job) []job.Answer {
	ctx, cancel := inTime(ctx)
	defer cancel()
	trail := &h.opt.Trail
	evaluations, entries := make([]evaluation, len(jobs)), make([]audit.Entry, len(jobs))
	policies := h.opt.Policies()
	for i := range jobs {
		e := &evaluations[i]
		e.at, e.Decision = h.opt.Now(), input.ReadDecision(&jobs[i], policies, h.opt.Policy)
		e.decide()
		e.elapsed = h.opt.Now().Sub(e.at)
		entries[i] = h.entry(&jobs[i], e)
	}
	stored, err := trail.Recorder.Record(ctx, entries)
	if err != nil {
		return releaseAll(jobs)
	}
	answers := make([]job.Answer, len(jobs))
	for i := range jobs {
		h.observe(&jobs[i], evaluations[i].last(), &stored[i])
		answers[i] = trail.answer(&jobs[i], &stored[i], func(variables string) string {
			return contract.AnswerTo(h.opt.JobType, variables, shorten(evaluations[i].Request.SubmissionError))
		})
	}
	return answers
}

// entry returns what is to be recorded of a job. The slow part, which is to read the error text and to redact it, is done
// here; what the trail knows of the claim seldom changes what comes of it.
func (h *Handler) entry(j *job.Job, e *evaluation) audit.Entry {
	key := h.opt.Trail.key(j, e.Identity...)
	e.redacted = redact.Stored(e.Request.SubmissionError)
	e.record = h.record(j, e)
	return audit.Entry{Key: key, ClaimID: e.Request.ClaimID, Make: func(state audit.State) audit.Record {
		if e.again = e.consider(&state, key); e.again == nil {
			return e.record
		}
		return h.record(j, e.again)
	}}
}

func (e *evaluation) decide() {
	if e.Invalid == nil {
		var err error
		e.decision, err = e.Policy.Decide(e.Request, e.at)
		e.Invalid, _ = errors.AsType[*retry.InvalidInputError](err)
	}
}

// consider decides again by what the trail knows of the claim, and returns nil where that changes nothing. A deadline counts
// from the first failure, which is reported with the end of the retries too (RN-BIL-005 section 12.3); and of the model's
// and the trail's count the greater one counts, because a process can lose its own.
func (e *evaluation) consider(state *audit.State, key audit.Key) *evaluation {
	if e.Invalid != nil {
		return nil
	}
	first := e.Request.FirstFailure.IsZero() && !state.FirstFailure.IsZero()
	late := first && e.Policy.Deadline > 0
	retried := state.Retried(key)
	lost := e.decision.Outcome == retry.OutcomeRetry && retried > e.Request.RetryCount
	over := first && e.decision.Outcome == retry.OutcomeExhausted
	if !late && !lost && !over {
		return nil
	}
	again := *e
	if first {
		again.Request.FirstFailure = state.FirstFailure
	}
	if late {
		again.decide()
	}
	if again.decision.Outcome == retry.OutcomeRetry && retried > e.Request.RetryCount {
		again.Request.Retried = retried
		again.decide()
	}
	return &again
}

// record returns what is to be stored of a job: its error text without personal data, what was decided, and the answer.
func (h *Handler) record(j *job.Job, e *evaluation) audit.Record {
	record := audit.Record{Kind: audit.KindRejected, At: e.at.UTC().Truncate(time.Microsecond), RetryCount: e.Request.RetryCount}
	detail := contract.Detail{
		ProcessID: j.ProcessID, ElementID: j.ElementID, SubmissionError: e.redacted, ExecutionTimeMs: milliseconds(e.elapsed),
	}
	words := text.In(h.opt.Trail.Language)
	if e.Invalid != nil {
		if e.Policy != nil {
			detail.Policy, record.Policy = e.Policy.Name, e.Policy.Name
		}
		record.Message, record.Detail = words.Text(e.Invalid.Text()), detail.Encode()
		return record
	}
	d := &e.decision
	detail.Steps = e.steps(j)
	switch d.Outcome {
	case retry.OutcomeExhausted:
		detail.With = e.OnExhausted
		detail.Attempts = d.RetryCount + 1
		if first := e.Request.FirstFailure; !first.IsZero() {
			detail.FirstFailureTime = &first
		}
	case retry.OutcomePermanent:
		detail.With = e.OnPermanent
	case retry.OutcomeRetry:
	}
	record.Kind, record.NextRetryTime, record.RetryCount, record.MaxRetries = audit.KindOf(d.Outcome), d.NextRetryTime, d.RetryCount, d.MaxRetries
	record.Policy, record.Class, record.Rule, record.Code, record.HeldBy = d.Policy, d.Error.Class, d.Error.RuleID, d.Error.Code, detail.With
	if d.Outcome != retry.OutcomeRetry {
		record.Message = words.Text(stopMessage(e.Request.ClaimID, d))
	}
	answer := contract.Of(d, h.opt.JobType, h.opt.Trail.Language)
	record.Variables, record.Detail = contract.Encode(h.opt.JobType, &answer, &detail)
	return record
}

// steps returns the times of the six steps of a decision (RN-BIL-005 section VII).
func (e *evaluation) steps(j *job.Job) *contract.Steps {
	received := j.Received
	if received.IsZero() || received.After(e.at) {
		received = e.at
	}
	decided, scheduled := e.at.Sub(received).Microseconds(), (e.at.Sub(received) + e.elapsed).Microseconds()
	return &contract.Steps{
		ErrorReceived: received.UTC().Truncate(time.Microsecond),
		AfterMicros:   [6]int64{0, decided, decided, decided, decided, scheduled},
	}
}

// observe counts and logs what is new.
func (h *Handler) observe(j *job.Job, e *evaluation, stored *audit.Stored) {
	if stored.Err != nil {
		return // the recorder has logged it
	}
	switch {
	case stored.Repeated:
		h.opt.Observer.Repeated()
		h.opt.Logger.Info("decision_repeated", jobFields(j)...)
	case e.Invalid != nil:
		name := ""
		if e.Policy != nil {
			name = e.Policy.Name
		}
		h.opt.Observer.Rejected(name, e.elapsed)
		h.opt.Logger.Warn("input_rejected", append(jobFields(j), zap.String("elementId", j.ElementID), zap.String("error", e.Invalid.Error()))...)
	default:
		h.opt.Observer.Decided(e.decision, e.elapsed)
		h.logIgnored(j, e)
		h.logLostCount(j, e)
		h.logDecision(j, e)
	}
}

func jobFields(j *job.Job) []zap.Field {
	return []zap.Field{zap.Int64("jobKey", j.Key), zap.Int64("processInstanceKey", j.ProcessInstanceKey)}
}

// logIgnored warns of each variable that could not be read, with the shape of its value.
func (h *Handler) logIgnored(j *job.Job, e *evaluation) {
	for _, i := range e.decision.Ignored.All() {
		h.opt.Logger.Warn("input_ignored", append(jobFields(j), zap.String("claimId", e.Request.ClaimID), zap.String("elementId", j.ElementID),
			zap.String("variable", i.Variable), zap.String("value", e.Describe(i.Variable)), zap.String("reason", string(i.Reason)),
			zap.String("detail", "decided as if the variable were absent; correct it in the worker that sets it"))...)
	}
}

// logLostCount warns of a process instance that has lost its count, once.
func (h *Handler) logLostCount(j *job.Job, e *evaluation) {
	if e.decision.CountFrom != retry.CountFromTrail || !h.lost.add(j.ProcessInstanceKey) {
		return
	}
	h.opt.Logger.Warn("retry_count_lost", append(jobFields(j), zap.String("claimId", e.Request.ClaimID), zap.String("elementId", j.ElementID),
		zap.Int("retryCount", e.Request.RetryCount), zap.Int("recordedRetries", e.Request.Retried),
		zap.String("detail", "the process brought a lower retryCount than the audit trail has recorded, so the recorded one was taken; "+
			"an input or output mapping of the task hides the variable retryCount: remove it from the model"))...)
}

// logDecision writes the one line of a decision.
func (h *Handler) logDecision(j *job.Job, e *evaluation) {
	d := &e.decision
	level, event := zap.InfoLevel, "retry_scheduled"
	switch {
	case d.Outcome == retry.OutcomeExhausted:
		level, event = zap.ErrorLevel, "max_retries_exceeded" // RN-BIL-005 section 2.1: LOG ERRO
	case d.Outcome == retry.OutcomePermanent:
		level, event = zap.WarnLevel, "permanent_error_detected"
	case h.opt.JobType == contract.BackoffJobType:
		event = "submission_retry_scheduled" // RN-BIL-004 section 13.4
	}
	if d.Outcome == retry.OutcomeRetry && d.Error.Class == retry.Unknown {
		level = zap.WarnLevel // RN-BIL-005 section 2.1: an unknown error is retried, with a warning
	}
	h.opt.Logger.Log(level, event, zap.Inline(decisionFields{j, e}))
}

// decisionFields are the fields of a decision's line, by the names of RN-BIL-005 section 13.4. `submissionError` is the
// code that matched: the insurer's text itself may carry personal data and is never logged.
//
// They are one field to the logger, which makes room for each field of a line, and a line is written for every job.
type decisionFields struct {
	job *job.Job
	*evaluation
}

// MarshalLogObject implements [zapcore.ObjectMarshaler].
func (f decisionFields) MarshalLogObject(line zapcore.ObjectEncoder) error {
	d := &f.decision
	line.AddString("claimId", f.Request.ClaimID)
	line.AddString("submissionError", d.Error.Code)
	line.AddString("errorClassification", string(d.Error.Class))
	line.AddInt64("retryCount", int64(d.RetryCount))
	line.AddInt64("maxRetries", int64(d.MaxRetries))
	line.AddInt64("backoffMinutes", int64(d.BackoffMinutes()))
	if !d.NextRetryTime.IsZero() {
		line.AddString("nextRetryTime", d.NextRetryTime.Format(time.RFC3339))
	}
	line.AddString("policy", d.Policy)
	line.AddString("ruleId", d.Error.RuleID)
	line.AddFloat64("executionTimeMs", milliseconds(f.elapsed))
	line.AddInt64("jobKey", f.job.Key)
	line.AddInt64("processInstanceKey", f.job.ProcessInstanceKey)
	if f.Template.ID != "" {
		line.AddString("templateId", f.Template.ID)
		line.AddString("templateVersion", f.Template.Version)
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// maxOriginalError is how much of the error text is sent back to the process. A process variable is copied with every
// event of the instance; a megabyte of HTML from a proxy does not belong there.
const maxOriginalError = 8 << 10

// shorten returns an error text that is sent back, cut and marked if it is too long.
func shorten(s string) string {
	if len(s) <= maxOriginalError {
		return s
	}
	return redact.Cut(s, maxOriginalError) + " [cut at 8 KiB, was " + strconv.Itoa(len(s)) + " bytes]"
}

// stopMessage returns the message of a BPMN error for the person who finds it, uncaught, in an incident. It names the rule's
// code rather than the insurer's text, which may carry personal data.
func stopMessage(claimID string, d *retry.Decision) text.Message {
	last := string(d.Error.Class)
	if d.Error.Code != "" {
		last = d.Error.Code + " (" + last + ")"
	}
	switch {
	case d.Outcome == retry.OutcomePermanent:
		return text.Messagef("claim %s: %s does not pass by itself; correct the data, then resubmit or abandon the claim", claimID, d.Error.Found())
	case d.Step == retry.StepDeadline:
		return text.Messagef("claim %s: no retry fits before the deadline %s, last error %s; review the claim, then resubmit or abandon it",
			claimID, d.Deadline.Format(time.RFC3339), last)
	default:
		return text.Messagef("claim %s: %s, last error %s; review the claim, then resubmit or abandon it", claimID, text.Messagef("all %d retries used", d.MaxRetries), last)
	}
}
