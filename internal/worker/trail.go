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
	// Record stores the records and returns what became of each. After an error that is unknown.
	Record(ctx context.Context, records []audit.Record) ([]audit.Appended, error)
	// Answered notes that the answer of a record has reached the broker, Gone that it found no job.
	Answered(id int64)
	Gone(record audit.Record)
	// Lost notes that a query to the store has failed.
	Lost(err error)
}

// Rounds returns how the present rounds of submissions of claims went; see [audit.History].
type Rounds interface {
	Rounds(ctx context.Context, claimIDs []string) ([]audit.Round, error)
	FirstFailures(ctx context.Context, claimIDs []string) ([]time.Time, error)
	Retried(ctx context.Context, jobs []audit.RoundJob) ([]int, error)
}

// Trail is where decisions are kept and how they are known again.
type Trail struct {
	// Recorder and Rounds write and read. Required.
	Recorder Recorder
	Rounds   Rounds
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

// query asks the store and gives up when ctx ends, because a hung disk ignores contexts and a handler that is late uses up
// one of its job's retries. A store that fails or hangs is noted as lost, so that no more jobs are taken.
func query[T any](ctx context.Context, t *Trail, question func(context.Context) (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	begin, replied := time.Now(), make(chan reply, 1)
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
	// A query that began with no time left says nothing about the store.
	if r.err != nil && (ctx.Err() == nil || time.Since(begin) > slowQuery) {
		t.Recorder.Lost(r.err)
	}
	return r.value, r.err
}

// slowQuery is how long a query to the store may take at the most. It is less than a handler has with a lock of 2 s.
const slowQuery = 800 * time.Millisecond

// ofClaims queries the store for all these claims at once; without claims it does not.
func ofClaims[T any](ctx context.Context, t *Trail, claims []string, question func(context.Context, []string) ([]T, error)) ([]T, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	return query(ctx, t, func(ctx context.Context) ([]T, error) { return question(ctx, claims) })
}

// answer returns the answer to a job from what is stored, so that it is the same whenever it is sent. The recorder notes
// its result. variables completes the
// variables of a decision; it may be nil if no record of the job holds one.
func (t *Trail) answer(j *job.Job, stored *audit.Record, variables func(stored string) string) job.Answer {
	if stored.ID == 0 {
		return job.Fail(j.Retries-1, text.In(t.Language).Sprintf("the worker's audit store refused this decision although it takes others; see the worker's log"))
	}
	var a job.Answer
	switch stored.Kind {
	case audit.KindRetry:
		a = job.Complete(variables(stored.Variables))
	case audit.KindExhausted:
		a = job.ThrowError(retry.CodeMaxRetriesExceeded, stored.Message, variables(stored.Variables))
	case audit.KindPermanent:
		a = job.ThrowError(retry.CodePermanentError, stored.Message, variables(stored.Variables))
	case audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned, audit.KindRedriven, audit.KindDecisionRefused:
		a = job.Complete(stored.Variables)
	case audit.KindRejected, audit.KindUndelivered:
		// An incident: an operator sees it, corrects the variables and resolves it. The job is never completed and no
		// BPMN error is thrown, because the model has no answer to a wiring mistake.
		a = job.Incident(stored.Message)
	}
	return a.Then(func(result job.Result) {
		switch result {
		case job.Accepted:
			t.Recorder.Answered(stored.ID)
		case job.NotFound:
			t.Recorder.Gone(*stored)
		case job.Unknown: // it comes again
		}
	})
}
