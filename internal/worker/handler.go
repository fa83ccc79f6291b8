// Package worker turns batches of jobs into answers: it reads the process variables, asks the rule, has the decisions
// recorded, and words the stored outcome for the process model. It knows jobs, the rule and the audit trail, but neither
// broker nor database.
package worker

import (
	"context"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/faults"
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

// Rounds tells how the present rounds of submissions of claims went; see [audit.History].
type Rounds interface {
	Rounds(ctx context.Context, claimIDs []string) ([]audit.Round, error)
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

// Handler answers `analyze-retry` jobs by a policy.
type Handler struct {
	policy   *retry.Policy
	fetch    []string
	trail    Trail
	now      func() time.Time
	observer Observer
	log      *zap.Logger
}

// NewHandler makes a handler.
func NewHandler(policy *retry.Policy, trail Trail, now func() time.Time, observer Observer, log *zap.Logger) (*Handler, error) {
	return &Handler{policy: policy, fetch: FetchVariables(), trail: trail, now: now, observer: observer, log: log}, nil
}

// ruling is what was found about one job, before it is stored.
type ruling struct {
	inputs   [16]byte
	request  retry.Request
	decision retry.Decision
	// invalid is what is wrong with the input, nil where a decision was taken.
	invalid error
	// at is when the rule was asked, elapsed how long it took from there.
	at      time.Time
	elapsed time.Duration
	// firstFailure is when the claim was first decided about in this round; known where retries are used up.
	firstFailure time.Time
}

// Handle decides the jobs of the batch, stores the decisions, and answers with what is stored: the new decision, or
// the one that this job got before.
func (h *Handler) Handle(ctx context.Context, jobs []job.Job) []job.Answer {
	rulings := make([]ruling, len(jobs))
	records := make([]audit.Record, len(jobs))
	for i := range jobs {
		rulings[i] = h.rule(&jobs[i])
	}
	if err := h.addHistory(ctx, rulings); err != nil {
		return h.trail.unavailable(jobs)
	}
	for i := range jobs {
		records[i] = h.trail.record(&jobs[i], &rulings[i])
	}
	stored, err := h.trail.Recorder.Record(ctx, records)
	if err != nil {
		return h.trail.unavailable(jobs)
	}
	answers := make([]job.Answer, len(jobs))
	for i := range jobs {
		faults.At(faults.Stored, stored[i].Record.ClaimID)
		h.tell(&jobs[i], &rulings[i], &stored[i])
		answers[i] = h.trail.answer(&jobs[i], &stored[i].Record, &rulings[i])
	}
	return answers
}

// rule reads the job and asks the rule.
func (h *Handler) rule(j *job.Job) (r ruling) {
	r.at = h.now()
	v := parse(j)
	r.inputs = h.trail.Secret.Inputs(v.inputs(j, h.fetch)...)
	r.request, r.invalid = decode(v, j, h.policy)
	faults.At(faults.Validated, r.request.ClaimID)
	if r.invalid == nil {
		r.decision, r.invalid = h.policy.Decide(r.request, r.at)
	}
	faults.At(faults.Decided, r.request.ClaimID)
	r.elapsed = h.now().Sub(r.at)
	return r
}

// tell counts and logs what is new.
func (h *Handler) tell(j *job.Job, r *ruling, stored *audit.Appended) {
	if stored.Record.ID == 0 {
		return // the store has refused it, and the recorder has said so
	}
	if stored.JobKeyReused {
		h.observer.JobKeyReused()
		h.log.Warn("job_key_reused", append(jobFields(j), zap.String("detail",
			"this job key is known from another process instance; after a broker's data was wiped, give RETRY_CLUSTER_NAME a new name"))...)
	}
	switch {
	case stored.Repeated:
		h.observer.Repeated()
		h.log.Info("decision_repeated", jobFields(j)...)
	case r.invalid != nil:
		h.observer.Rejected(r.elapsed)
		h.log.Warn("input_rejected", append(jobFields(j), zap.String("elementId", j.ElementID), zap.String("error", stored.Record.Message))...)
	default:
		h.observer.Decided(r.decision, r.elapsed)
		h.logDecision(j, r)
	}
}

func jobFields(j *job.Job) []zap.Field {
	return []zap.Field{zap.Int64("jobKey", j.Key), zap.Int64("processInstanceKey", j.ProcessInstanceKey)}
}

// logDecision writes the one line of a decision.
func (h *Handler) logDecision(j *job.Job, r *ruling) {
	d := &r.decision
	level, event := zap.InfoLevel, "retry_scheduled"
	switch {
	case d.Outcome == retry.OutcomeExhausted:
		event = "max_retries_exceeded"
	case d.Outcome == retry.OutcomePermanent:
		event = "permanent_error_detected"
	case d.Error.Class == retry.Unknown:
		level = zap.WarnLevel // RN-BIL-005 section 2.1: an unknown error is retried, with a warning
	}
	h.log.Log(level, event, zap.Inline(decisionFields{j, r}))
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
	line.AddInt64("backoffMinutes", int64(d.Backoff/time.Minute))
	if !d.NextRetryTime.IsZero() {
		line.AddString("nextRetryTime", d.NextRetryTime.Format(time.RFC3339))
	}
	line.AddFloat64("executionTimeMs", milliseconds(f.ruling.elapsed))
	line.AddInt64("jobKey", f.job.Key)
	line.AddInt64("processInstanceKey", f.job.ProcessInstanceKey)
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
