// Package worker turns batches of jobs into answers: it reads the process variables, asks the rule, has the
// decisions recorded, and answers with what was recorded. It knows jobs, the rule and the audit trail, but
// neither broker nor database.
package worker

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
)

// Observer counts what becomes of jobs.
type Observer interface {
	// Decided is called for every new decision about a job of this type, with how long it took.
	Decided(jobType string, d retry.Decision, elapsed time.Duration)
	// Rejected is called for every new decision job whose input was invalid, with the policy that would have
	// decided; empty where the input does not show it.
	Rejected(policyName string, elapsed time.Duration)
	// OutcomeRecorded is called for every new outcome, re-drive and refused decision, with what was stored of
	// it.
	OutcomeRecorded(r *audit.Record)
	// Repeated is called for every job that was given its stored answer again.
	Repeated()
}

// Worker is what jobs are answered by. All fields are required, but JobType for decisions only.
type Worker struct {
	// JobType is the type of the jobs that are decided. It determines their output variables.
	JobType string
	// JobTypes has for every job type that is decided the policy of tasks that name none. It must be among
	// Policies at any time.
	JobTypes map[string]string
	// Policies returns the policies that are known at present.
	Policies func() *policy.Set
	// Recorder keeps the decisions, and Secret keys the hash of a job's inputs.
	Recorder *audit.Recorder
	Secret   *audit.Secret
	// Cluster is the name of the Zeebe cluster whose jobs are decided.
	Cluster string
	// Language is the language of what people read: incidents, messages of BPMN errors, retryReason.
	Language text.Language
	Now      func() time.Time
	Observer Observer
	Logger   *zap.Logger
}

// key identifies a decision: the same job with the same inputs, and nothing else.
func (w *Worker) key(j *job.Job, inputs ...string) audit.Key {
	return audit.Key{
		Cluster:            w.Cluster,
		JobKey:             j.Key,
		ProcessInstanceKey: j.ProcessInstanceKey,
		Inputs:             w.Secret.Inputs(inputs...),
	}
}

// record stores what is to be recorded of the jobs of a batch, and answers each with what is stored of it.
// settle counts and logs a record that is new, and returns the variables of the answer.
func (w *Worker) record(
	ctx context.Context, jobs []job.Job, entries []audit.Entry,
	settle func(i int, r *audit.Record, isNew bool) string,
) []job.Answer {
	ctx, cancel := inTime(ctx)
	defer cancel()
	stored, err := w.Recorder.Record(ctx, entries)
	answers, words := make([]job.Answer, len(jobs)), text.In(w.Language)
	for i := range jobs {
		if err != nil { // nothing is answered that is not stored
			answers[i] = jobs[i].Release("released: the audit store is not available")
			continue
		}
		if stored[i].Err != nil { // the recorder has logged it
			answers[i] = job.Fail(jobs[i].Retries-1, words.Sprintf("the worker's audit store refused this "+
				"decision although it takes others; see the worker's log"))
			continue
		}
		if stored[i].Repeated {
			w.Observer.Repeated()
			w.Logger.Info("answer_repeated", jobFields(&jobs[i])...)
		}
		r := &stored[i].Record
		answers[i] = answer(r, settle(i, r, !stored[i].Repeated))
	}
	return answers
}

// inTime returns a context that ends when nine tenths of the time that is left are over. A handler that waits
// for an unavailable store waits until its context ends, and must still return in time: one that is late uses
// up one of its job's retries, and three of them make an incident.
func inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)*9/10)
}

// answer returns the answer to a job by its record, so that it is the same whenever it is sent.
func answer(r *audit.Record, variables string) job.Answer {
	switch r.Kind {
	case audit.KindExhausted, audit.KindPermanent: // whose names are the codes
		return job.ThrowError(r.Kind.String(), r.Message, variables)
	case audit.KindRejected:
		// An operator sees the incident, corrects the variables and resolves it. The job is never completed
		// and no BPMN error is thrown, because the model has no answer to a wiring mistake.
		return job.Incident(r.Message)
	case audit.KindRetry, audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned, audit.KindRedriven,
		audit.KindDecisionRefused:
	}
	return job.Complete(variables)
}

// warn logs what is wrong with a job, for which a record is new.
func (w *Worker) warn(j *job.Job, r *audit.Record, event string, fields ...zap.Field) {
	fields = append(fields, zap.String("claimId", r.ClaimID), zap.String("elementId", j.ElementID))
	w.Logger.Warn(event, append(fields, jobFields(j)...)...)
}

func jobFields(j *job.Job) []zap.Field {
	return []zap.Field{zap.Int64("jobKey", j.Key), zap.Int64("processInstanceKey", j.ProcessInstanceKey)}
}
