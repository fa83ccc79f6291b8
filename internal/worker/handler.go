// Package worker turns batches of jobs into answers: it reads the process variables, asks the rule, has the decisions
// recorded, and words the stored outcome for the process model. It knows jobs, the rule and the audit trail, but neither
// broker nor database.
package worker

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/failpoint"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// The job types of the rule's two documents. Any other job type is answered as the first one.
const (
	// JobType is the job type of RN-BIL-005.
	JobType = "analyze-retry"
	// BackoffJobType is that of its older sibling RN-BIL-004, which has its own output variables.
	BackoffJobType = "retry-submission-backoff"
)

// FetchVariables are the process variables that a job may bring: exactly what is read. To fetch all of them would let
// a foreign variable that is nested too deep stop the whole job type.
func FetchVariables() []string { return slices.Concat(firstNames, laterNames) }

// firstNames are the variables that every version of this worker has read, laterNames those that came later.
var (
	firstNames = []string{"claimId", "submissionError", "retryCount", "lastSubmissionTime"}
	laterNames = []string{"retryUntil", "retryAfter", varMaxAttempts, varRetryDelay, varMaxRetryDelay}
)

// Recorder keeps what is decided; see [audit.Recorder].
type Recorder interface {
	// Record stores the records and returns what became of each. An error means that nobody knows.
	Record(ctx context.Context, records []audit.Record) ([]audit.Appended, error)
	// Answered notes that the answer of a record has reached the broker, Gone that it found no job.
	Answered(id int64)
	Gone(record audit.Record)
	// Lost notes that the store has failed somebody who reads.
	Lost(err error)
}

// Rounds returns how the present rounds of submissions of claims went; see [audit.History].
type Rounds interface {
	Rounds(ctx context.Context, claimIDs []string) ([]audit.Round, error)
	FirstFailures(ctx context.Context, claimIDs []string) ([]time.Time, error)
}

// Observer is told of every job's outcome and how long it took to find.
type Observer interface {
	// Decided is called for every new decision, Rejected for every new job whose input was invalid.
	Decided(d retry.Decision, elapsed time.Duration)
	Rejected(elapsed time.Duration)
	// Repeated is called for every job that was given its stored answer again.
	Repeated()
	// JobKeyReused is called where a job key is known from another process instance.
	JobKeyReused()
}

// Trail is where decisions are kept and by what they are known again.
type Trail struct {
	// Recorder and Rounds write and read. Required.
	Recorder Recorder
	Rounds   Rounds
	// Secret keys the hash of a job's inputs. Required.
	Secret *audit.Secret
	// Cluster is the name of the Zeebe cluster whose jobs are decided.
	Cluster string
}

// Options are what a [Handler] works by. All are required.
type Options struct {
	// JobType is the type of the jobs. It says which output variables they get.
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
	opt    Options
	output output
}

// NewHandler makes a handler.
func NewHandler(o Options) *Handler {
	return &Handler{opt: o, output: outputOf(o.JobType)}
}

// ruling is what was found about one job, before it is stored.
type ruling struct {
	inputs   [16]byte
	request  retry.Request
	policy   *retry.Policy
	decision retry.Decision
	// invalid is what is wrong with the input, nil where a decision was taken.
	invalid error
	// at is when the rule was asked, elapsed how long it took from there.
	at      time.Time
	elapsed time.Duration
}

// Handle decides the jobs of the batch, stores the decisions, and answers with what is stored: the new decision, or
// the one that this job got before.
func (h *Handler) Handle(ctx context.Context, jobs []job.Job) []job.Answer {
	trail := &h.opt.Trail
	rulings := make([]ruling, len(jobs))
	records := make([]audit.Record, len(jobs))
	known := h.opt.Policies()
	for i := range jobs {
		rulings[i] = h.read(&jobs[i], known)
	}
	// A deadline that counts from the first failure needs to know it before the decision, the event of used-up retries
	// after it.
	if err := h.addFirstFailures(ctx, rulings, func(r *ruling) bool { return r.policy.Deadline > 0 }); err != nil {
		return trail.unavailable(jobs)
	}
	for i := range jobs {
		h.decide(&rulings[i])
	}
	if err := h.addFirstFailures(ctx, rulings, func(r *ruling) bool { return r.decision.Outcome == retry.OutcomeExhausted }); err != nil {
		return trail.unavailable(jobs)
	}
	for i := range jobs {
		records[i] = h.record(&jobs[i], &rulings[i])
	}
	stored, err := trail.Recorder.Record(ctx, records)
	if err != nil {
		return trail.unavailable(jobs)
	}
	answers := make([]job.Answer, len(jobs))
	for i := range jobs {
		failpoint.At(failpoint.Stored, stored[i].Record.ClaimID)
		h.tell(&jobs[i], &rulings[i], &stored[i])
		answers[i] = trail.answer(&jobs[i], &stored[i].Record, &h.output, &rulings[i].request)
	}
	return answers
}

// read reads the job and finds its policy.
func (h *Handler) read(j *job.Job, known *policy.Set) (r ruling) {
	r.at = h.opt.Now()
	v := parse(j)
	var settled bool
	r.request, r.policy, settled, r.invalid = decode(v, j, known, h.opt.Policy)
	parts := inputsOf(v, j)
	if !settled {
		// The same job is another question where other policies are known: an operator adds the one that was missing, and
		// resolves the incident.
		parts = append(parts, j.Headers, known.Version())
	}
	r.inputs = h.opt.Trail.Secret.Inputs(parts...)
	failpoint.At(failpoint.Validated, r.request.ClaimID)
	return r
}

// inputsOf are what the decision about a job depends on. A variable that came with a later version of this worker counts
// only where it is there, so that a job that was decided before is known again.
func inputsOf(v variables, j *job.Job) []string {
	parts := v.inputs(j, firstNames)
	for _, name := range laterNames {
		if value := v.get(name); value != "" && value != "null" {
			parts = append(parts, name, value)
		}
	}
	return parts
}

// decide asks the rule.
func (h *Handler) decide(r *ruling) {
	if r.invalid == nil {
		r.decision, r.invalid = r.policy.Decide(r.request, r.at)
	}
	failpoint.At(failpoint.Decided, r.request.ClaimID)
	r.elapsed = h.opt.Now().Sub(r.at)
}

// tell counts and logs what is new.
func (h *Handler) tell(j *job.Job, r *ruling, stored *audit.Appended) {
	if stored.Record.ID == 0 {
		return // the store has refused it, and the recorder has said so
	}
	if stored.JobKeyReused {
		h.opt.Observer.JobKeyReused()
		h.opt.Logger.Warn("job_key_reused", append(jobFields(j), zap.String("detail",
			"this job key is known from another process instance; after a broker's data was wiped, give RETRY_CLUSTER_NAME a new name"))...)
	}
	switch {
	case stored.Repeated:
		h.opt.Observer.Repeated()
		h.opt.Logger.Info("decision_repeated", jobFields(j)...)
	case r.invalid != nil:
		h.opt.Observer.Rejected(r.elapsed)
		h.opt.Logger.Warn("input_rejected", append(jobFields(j), zap.String("elementId", j.ElementID), zap.String("error", stored.Record.Message))...)
	default:
		h.opt.Observer.Decided(r.decision, r.elapsed)
		h.logIgnored(j, r)
		h.logDecision(j, r)
	}
}

func jobFields(j *job.Job) []zap.Field {
	return []zap.Field{zap.Int64("jobKey", j.Key), zap.Int64("processInstanceKey", j.ProcessInstanceKey)}
}

// logIgnored warns of each variable that could not be read, with the shape of its value.
func (h *Handler) logIgnored(j *job.Job, r *ruling) {
	for variable, reason := range r.decision.Ignored.All() {
		h.opt.Logger.Warn("input_ignored", append(jobFields(j), zap.String("claimId", r.request.ClaimID), zap.String("elementId", j.ElementID),
			zap.String("variable", variable), zap.String("value", describe(parse(j).get(variable))), zap.String("reason", string(reason)),
			zap.String("detail", "decided as if the variable were absent; correct it in the worker that sets it"))...)
	}
}

// logDecision writes the one line of a decision.
func (h *Handler) logDecision(j *job.Job, r *ruling) {
	d := &r.decision
	level, event := zap.InfoLevel, h.output.scheduled
	switch {
	case d.Outcome == retry.OutcomeExhausted:
		event = "max_retries_exceeded"
	case d.Outcome == retry.OutcomePermanent:
		event = "permanent_error_detected"
	case d.Error.Class == retry.Unknown:
		level = zap.WarnLevel // RN-BIL-005 section 2.1: an unknown error is retried, with a warning
	}
	h.opt.Logger.Log(level, event, zap.Inline(decisionFields{j, r}))
}

// decisionFields are the fields of a decision's line, by the names of RN-BIL-005 section 13.4. `submissionError` is the
// code that matched: the insurer's text itself may carry personal data and is never logged.
//
// They are one field to the logger: it has room made for each field of a line, and a line is written for every job.
type decisionFields struct {
	job    *job.Job
	ruling *ruling
}

// MarshalLogObject implements [zapcore.ObjectMarshaler].
func (f decisionFields) MarshalLogObject(line zapcore.ObjectEncoder) error {
	d := &f.ruling.decision
	line.AddString("claimId", f.ruling.request.ClaimID)
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
	line.AddFloat64("executionTimeMs", milliseconds(f.ruling.elapsed))
	line.AddInt64("jobKey", f.job.Key)
	line.AddInt64("processInstanceKey", f.job.ProcessInstanceKey)
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
