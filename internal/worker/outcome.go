package worker

import (
	"context"
	"fmt"
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
	outcomes := make([]input.Outcome, len(jobs))
	var valid []int
	var claims []string
	for i := range jobs {
		if outcomes[i] = input.ReadOutcome(&jobs[i]); outcomes[i].Invalid == nil {
			valid, claims = append(valid, i), append(claims, outcomes[i].ClaimID)
		}
	}
	rounds, err := ofClaims(ctx, &h.trail, claims, h.trail.Rounds.Rounds)
	if err != nil {
		return releaseAll(jobs)
	}
	round := make([]*audit.Round, len(jobs))
	for n, i := range valid {
		round[i] = &rounds[n]
	}
	records := make([]audit.Record, len(jobs))
	for i := range jobs {
		records[i] = h.record(&jobs[i], &outcomes[i], round[i])
	}
	stored, err := h.trail.Recorder.Record(ctx, records)
	if err != nil {
		return releaseAll(jobs)
	}
	answers := make([]job.Answer, len(jobs))
	for i := range jobs {
		h.observe(&jobs[i], &outcomes[i], &stored[i])
		answers[i] = h.trail.answer(&jobs[i], &stored[i].Record, nil)
	}
	return answers
}

// record returns what is to be stored of a job; round is nil for an invalid one.
func (h *OutcomeHandler) record(j *job.Job, o *input.Outcome, round *audit.Round) audit.Record {
	record := audit.Record{At: h.now().UTC().Truncate(time.Microsecond), Key: h.trail.key(j, o.Identity...)}
	detail := contract.Detail{ProcessID: j.ProcessID, ElementID: j.ElementID}
	if o.Invalid != nil {
		message := text.In(h.trail.Language).Text(o.Invalid.Text())
		record.Kind, record.Message, record.Detail = audit.KindRejected, message, detail.Encode()
		return record
	}
	record.Kind, record.ClaimID, record.RetryCount, record.Variables = o.Kind, o.ClaimID, round.Retries, "{}"
	detail.Justification, detail.DecidedBy, detail.RedriveID = o.Justification, o.DecidedBy, o.RedriveID
	detail.RedriveWait, detail.DecisionProblem = o.RedriveWait, o.DecisionProblem
	detail.Attempts, detail.Policy, detail.Resubmitted = round.Failures, round.Policy, round.Resubmitted
	if !round.Opened.IsZero() {
		detail.OpenedAt = &round.Opened
	}
	if o.Kind == audit.KindSubmitted {
		detail.Attempts++ // the one that was accepted
	}
	if !round.FirstFailure.IsZero() {
		detail.FirstFailureTime = &round.FirstFailure
	}
	record.Detail = detail.Encode()
	if round.AtLeast {
		h.log.Warn("round_counted_in_part", append(jobFields(j), zap.String("claimId", o.ClaimID),
			zap.String("detail", fmt.Sprintf("the round has %d records or more; its outcome is recorded with the attempts and retries of the first %[1]d: look for a process that submits this claim in a loop", audit.MaxRound)))...)
	}
	return record
}

// observe counts and logs what is new.
func (h *OutcomeHandler) observe(j *job.Job, o *input.Outcome, stored *audit.Appended) {
	if stored.Record.ID == 0 {
		return // the store has refused it, and the recorder has logged that
	}
	if stored.JobKeyReused {
		h.log.Warn("job_key_reused", jobFields(j)...)
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
