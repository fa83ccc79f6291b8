package worker

import (
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/input"
)

// OutcomeObserver counts outcomes.
type OutcomeObserver interface {
	// OutcomeRecorded is called for every new outcome, re-drive and refused decision, with what was stored of it.
	OutcomeRecorded(r *audit.Record)
	// Repeated is called for every job that was answered before.
	Repeated()
}

// OutcomeHandler answers `record-retry-outcome` jobs: it records how a round of submissions ended, with how many
// attempts and since when, which it knows from the decisions of the round. A re-drive and an answer
// that was no decision are recorded likewise, but end no round.
type OutcomeHandler struct {
	trail    Trail
	now      func() time.Time
	observer OutcomeObserver
	log      *zap.Logger
}

// NewOutcomeHandler returns a handler.
func NewOutcomeHandler(trail Trail, now func() time.Time, observer OutcomeObserver, log *zap.Logger) *OutcomeHandler {
	return &OutcomeHandler{trail: trail, now: now, observer: observer, log: log}
}

// Handle records the outcomes of the batch and completes the jobs without variables.
func (h *OutcomeHandler) Handle(ctx context.Context, jobs []job.Job) []job.Answer {
	ctx, cancel := inTime(ctx)
	defer cancel()
	outcomes, entries := make([]input.Outcome, len(jobs)), make([]audit.Entry, len(jobs))
	for i := range jobs {
		outcomes[i] = input.ReadOutcome(&jobs[i])
		entries[i] = h.entry(&jobs[i], &outcomes[i])
	}
	stored, err := h.trail.Recorder.Record(ctx, entries)
	if err != nil {
		return releaseAll(jobs)
	}
	answers := make([]job.Answer, len(jobs))
	for i := range jobs {
		h.observe(&jobs[i], &outcomes[i], &stored[i])
		answers[i] = h.trail.answer(&jobs[i], &stored[i], nil)
	}
	return answers
}

// entry returns what is to be recorded of a job.
func (h *OutcomeHandler) entry(j *job.Job, o *input.Outcome) audit.Entry {
	entry := audit.Entry{Key: h.trail.key(j, o.Identity...)}
	record := audit.Record{Kind: audit.KindRejected, At: h.now().UTC().Truncate(time.Microsecond)}
	detail := contract.Detail{ProcessID: j.ProcessID, ElementID: j.ElementID}
	if o.Invalid != nil {
		record.Message, record.Detail = text.In(h.trail.Language).Text(o.Invalid.Text()), detail.Encode()
		entry.Make = func(audit.State) audit.Record { return record }
		return entry
	}
	entry.ClaimID = o.ClaimID
	record.Kind, record.DecidedBy, record.Variables = o.Kind, o.DecidedBy, "{}"
	if wait, err := contract.ParseISODuration(o.RedriveWait); err == nil && wait > 0 {
		record.NextRetryTime = record.At.Add(wait)
	}
	detail.Justification, detail.DecidedBy, detail.RedriveID = o.Justification, o.DecidedBy, o.RedriveID
	detail.RedriveWait, detail.DecisionProblem = o.RedriveWait, o.DecisionProblem
	entry.Make = func(state audit.State) audit.Record { return ofRound(record, detail, &state) }
	return entry
}

// ofRound completes the record of an outcome by the state of its claim: with the attempts and retries of the round, since
// when it failed, and the policy that decided last.
func ofRound(record audit.Record, detail contract.Detail, state *audit.State) audit.Record {
	record.RetryCount, record.Policy = state.Retries, state.Policy
	detail.Attempts, detail.Policy = state.Failures, state.Policy
	if record.Kind == audit.KindSubmitted {
		detail.Attempts++ // the one that was accepted
	}
	if !state.FirstFailure.IsZero() {
		detail.FirstFailureTime = &state.FirstFailure
	}
	record.Detail = detail.Encode()
	return record
}

// observe counts and logs what is new.
func (h *OutcomeHandler) observe(j *job.Job, o *input.Outcome, stored *audit.Stored) {
	if stored.Err != nil {
		return // the recorder has logged it
	}
	record := &stored.Record
	switch {
	case stored.Repeated:
		h.observer.Repeated()
		h.log.Info("outcome_repeated", jobFields(j)...)
	case o.Invalid != nil:
		h.log.Warn("input_rejected", append(jobFields(j), zap.String("elementId", j.ElementID), zap.String("error", o.Invalid.Error()))...)
	default:
		h.observer.OutcomeRecorded(record)
		fields := append(jobFields(j), zap.String("claimId", record.ClaimID),
			zap.String("outcome", strings.ToLower(record.Kind.String())), zap.Int("retries", record.RetryCount))
		if o.Template.ID != "" {
			fields = append(fields, zap.String("templateId", o.Template.ID), zap.String("templateVersion", o.Template.Version))
		}
		h.log.Info("outcome_recorded", fields...)
	}
}
