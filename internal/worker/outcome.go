package worker

import (
	"cmp"
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// RecordOutcome is the handler of `record-retry-outcome` jobs: it records how a round of submissions ended,
// with how many attempts and since when, which it knows from the decisions of the round, and completes the
// jobs without variables. A re-drive and an answer that was no decision are recorded likewise, but end no
// round.
func (w Worker) RecordOutcome(ctx context.Context, jobs []job.Job) []job.Answer {
	outcomes, entries := make([]input.Outcome, len(jobs)), make([]audit.Entry, len(jobs))
	for i := range jobs {
		outcomes[i] = input.ReadOutcome(&jobs[i])
		entries[i] = w.outcome(&jobs[i], &outcomes[i])
	}
	return w.record(ctx, jobs, entries, func(i int, r *audit.Record, isNew bool) string {
		if isNew {
			w.observeOutcome(&jobs[i], &outcomes[i], r)
		}
		return r.Variables
	})
}

// outcome returns what is to be recorded of a job.
func (w *Worker) outcome(j *job.Job, o *input.Outcome) audit.Entry {
	entry := audit.Entry{Key: w.key(j, o.Identity...), ClaimID: o.ClaimID}
	record := audit.Record{Kind: audit.KindRejected, At: w.Now().UTC().Truncate(time.Microsecond)}
	if o.Invalid != nil {
		detail := contract.Detail{ProcessID: j.ProcessID, ElementID: j.ElementID}
		record.Message, record.Detail = text.In(w.Language).Text(o.Invalid.Text()), detail.Encode()
		entry.Make = func(audit.State) audit.Record { return record }
		return entry
	}
	record.Kind, record.DecidedBy, record.Variables = o.Kind, o.Said.DecidedBy, "{}"
	detail := o.Said
	detail.ProcessID, detail.ElementID = j.ProcessID, j.ElementID
	if detail.RedriveWait > 0 {
		record.NextRetryTime = record.At.Add(time.Duration(detail.RedriveWait))
	}
	// The state of the claim has the attempts and retries of the round, since when it failed, and the policy
	// that decided last. Of a claim that never failed the task names it; a name that is not known is the
	// model's mistake, and no reason to hold a claim up that the insurer has.
	ofTask := cmp.Or(w.JobTypes[o.OfTask], o.OfTask)
	if _, known := w.Policies().Get(ofTask); !known {
		ofTask = ""
	}
	entry.Make = func(state audit.State) audit.Record {
		record, detail := record, detail
		record.RetryCount, record.Policy = state.Retries, cmp.Or(state.Policy, ofTask)
		detail.Attempts, detail.Policy = state.Failures, record.Policy
		if record.Kind == audit.KindSubmitted {
			detail.Attempts++ // the one that was accepted
		}
		detail.FirstFailureTime = state.FirstFailure
		record.Detail = detail.Encode()
		return record
	}
	return entry
}

// observeOutcome counts and logs what is new.
func (w *Worker) observeOutcome(j *job.Job, o *input.Outcome, r *audit.Record) {
	if o.Invalid != nil {
		w.warn(j, r, "input_rejected", zap.Stringer("error", o.Invalid.Text()))
		return
	}
	w.Observer.OutcomeRecorded(r)
	w.Logger.Info("outcome_recorded", append(jobFields(j), zap.String("claimId", r.ClaimID),
		zap.String("outcome", strings.ToLower(r.Kind.String())), zap.Int("retries", r.RetryCount))...)
}
