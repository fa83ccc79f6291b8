package worker

import (
	"context"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Recorder keeps what is decided; see [audit.Recorder].
type Recorder interface {
	// Record stores the entries and returns what became of each. After an error that is unknown.
	Record(ctx context.Context, entries []audit.Entry) ([]audit.Stored, error)
}

// Trail is where decisions are kept and how they are known again.
type Trail struct {
	// Recorder writes. Required.
	Recorder Recorder
	// Secret keys the hash of a job's inputs. Required.
	Secret *audit.Secret
	// Cluster is the name of the Zeebe cluster whose jobs are decided.
	Cluster string
	// Language is the language of what people read: incidents, messages of BPMN errors, retryReason.
	Language text.Language
}

// key identifies a decision: the same job with the same inputs, and nothing else.
func (t *Trail) key(j *job.Job, inputs ...string) audit.Key {
	return audit.Key{Cluster: t.Cluster, JobKey: j.Key, ProcessInstanceKey: j.ProcessInstanceKey, Inputs: t.Secret.Inputs(inputs...)}
}

// releaseAll releases all jobs with their retries unchanged: nothing is answered that is not stored.
func releaseAll(jobs []job.Job) []job.Answer {
	answers := make([]job.Answer, len(jobs))
	for i := range answers {
		answers[i] = job.Release("released: the audit store is not available")
	}
	return answers
}

// inTime returns a context that ends when nine tenths of the time that is left are over. A handler that waits for an unavailable
// store waits until its context ends, and must still return in time: one that is late uses up one of its job's retries, and
// three of them make an incident.
func inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)*9/10)
}

// answer returns the answer to a job from what is stored, so that it is the same whenever it is sent. variables completes
// the variables of a decision; it may be nil if no record of the job holds one.
func (t *Trail) answer(j *job.Job, stored *audit.Stored, variables func(stored string) string) job.Answer {
	r := &stored.Record
	if stored.Err != nil {
		return job.Fail(j.Retries-1, text.In(t.Language).Sprintf("the worker's audit store refused this decision although it takes others; see the worker's log"))
	}
	switch r.Kind {
	case audit.KindRetry:
		return job.Complete(variables(r.Variables))
	case audit.KindExhausted:
		return job.ThrowError(retry.CodeMaxRetriesExceeded, r.Message, variables(r.Variables))
	case audit.KindPermanent:
		return job.ThrowError(retry.CodePermanentError, r.Message, variables(r.Variables))
	case audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned, audit.KindRedriven, audit.KindDecisionRefused:
		return job.Complete(r.Variables)
	case audit.KindRejected:
	}
	// An incident: an operator sees it, corrects the variables and resolves it. The job is never completed and no
	// BPMN error is thrown, because the model has no answer to a wiring mistake.
	return job.Incident(r.Message)
}
