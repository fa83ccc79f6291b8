package worker

import (
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/retry"
)

// OutcomeJobType is the job type with which a process model reports how a round of submissions of a claim ended.
const OutcomeJobType = "record-retry-outcome"

// OutcomeVariables are the variables that a `record-retry-outcome` job must bring.
func OutcomeVariables() []string { return []string{"claimId", "outcome"} }

// outcomes are the values of the variable outcome.
var outcomes = map[string]audit.Kind{
	"SUBMITTED": audit.KindSubmitted, "RESUBMITTED": audit.KindResubmitted, "ABANDONED": audit.KindAbandoned,
}

const ruleOutcome = `SUBMITTED, RESUBMITTED or ABANDONED`

// OutcomeObserver is told of every outcome.
type OutcomeObserver interface {
	// OutcomeRecorded is called for every new outcome.
	OutcomeRecorded(kind audit.Kind)
	// Repeated is called for every job that was answered before, JobKeyReused where its key is known from another
	// process instance.
	Repeated()
	JobKeyReused()
}

// OutcomeHandler answers `record-retry-outcome` jobs: it records how a round of submissions ended, with how many
// attempts and since when, which it knows from the decisions of the round.
type OutcomeHandler struct {
	trail    Trail
	now      func() time.Time
	observer OutcomeObserver
	log      *zap.Logger
}

// NewOutcomeHandler makes a handler.
func NewOutcomeHandler(trail Trail, now func() time.Time, observer OutcomeObserver, log *zap.Logger) *OutcomeHandler {
	return &OutcomeHandler{trail: trail, now: now, observer: observer, log: log}
}

// Handle records the outcomes of the batch and completes the jobs without variables.
func (h *OutcomeHandler) Handle(ctx context.Context, jobs []job.Job) []job.Answer {
	records := make([]audit.Record, len(jobs))
	var outcomes []int
	var claims []string
	for i := range jobs {
		records[i] = h.record(&jobs[i])
		if records[i].Kind != audit.KindRejected {
			outcomes, claims = append(outcomes, i), append(claims, records[i].ClaimID)
		}
	}
	rounds, err := h.trail.rounds(ctx, claims)
	if err != nil {
		return h.trail.unavailable(jobs)
	}
	for n, i := range outcomes {
		addRound(&records[i], &jobs[i], &rounds[n])
	}
	stored, err := h.trail.Recorder.Record(ctx, records)
	if err != nil {
		return h.trail.unavailable(jobs)
	}
	answers := make([]job.Answer, len(jobs))
	for i := range jobs {
		h.tell(&jobs[i], &stored[i])
		answers[i] = h.trail.answer(&jobs[i], &stored[i].Record, nil)
	}
	return answers
}

// record is what is to be stored of a job; of an outcome it lacks what [addRound] adds.
func (h *OutcomeHandler) record(j *job.Job) audit.Record {
	v := parse(j)
	record := audit.Record{
		At:  h.now().UTC().Truncate(time.Microsecond),
		Key: h.trail.key(j, h.trail.Secret.Inputs(v.inputs(j, OutcomeVariables())...)),
	}
	claimID, kind, invalid := decodeOutcome(v)
	if invalid != nil {
		record.Kind, record.Message = audit.KindRejected, rejection(invalid)
		record.Detail = encodeDetail(&audit.Detail{ProcessID: j.ProcessID, ElementID: j.ElementID})
		return record
	}
	record.Kind, record.ClaimID, record.Variables = kind, claimID, "{}"
	return record
}

// addRound adds to an outcome with how many attempts it came, and since when the claim had failed.
func addRound(record *audit.Record, j *job.Job, round *audit.Round) {
	record.RetryCount = round.Retries
	detail := audit.Detail{ProcessID: j.ProcessID, ElementID: j.ElementID, Attempts: round.Failures}
	if record.Kind == audit.KindSubmitted {
		detail.Attempts++ // the one that was accepted
	}
	if !round.FirstFailure.IsZero() {
		detail.FirstFailureTime = &round.FirstFailure
	}
	record.Detail = encodeDetail(&detail)
}

// decodeOutcome reads the variables of the job; its error names all faults at once.
func decodeOutcome(v variables) (claimID string, kind audit.Kind, err error) {
	if v == nil {
		return "", 0, noObject
	}
	d := decoder{raw: v}
	claimID = strings.Clone(d.text("claimId", retry.RuleClaimID)) // see decode
	if !d.reported("claimId") && !retry.ValidClaimID(claimID) {
		d.fault("claimId", retry.Shape(claimID), retry.RuleClaimID)
	}
	name := d.text("outcome", ruleOutcome)
	kind, known := outcomes[name]
	if !d.reported("outcome") && !known {
		d.fault("outcome", retry.Shape(name), ruleOutcome)
	}
	return claimID, kind, d.err(OutcomeVariables())
}

func (h *OutcomeHandler) tell(j *job.Job, stored *audit.Appended) {
	if stored.Record.ID == 0 {
		return // the store has refused it, and the recorder has said so
	}
	if stored.JobKeyReused {
		h.observer.JobKeyReused()
		h.log.Warn("job_key_reused", jobFields(j)...)
	}
	record := &stored.Record
	switch {
	case stored.Repeated:
		h.observer.Repeated()
		h.log.Info("outcome_repeated", jobFields(j)...)
	case record.Kind == audit.KindRejected:
		h.log.Warn("input_rejected", append(jobFields(j), zap.String("elementId", j.ElementID), zap.String("error", record.Message))...)
	default:
		h.observer.OutcomeRecorded(record.Kind)
		h.log.Info("outcome_recorded", append(jobFields(j), zap.String("claimId", record.ClaimID),
			zap.String("outcome", strings.ToLower(record.Kind.String())), zap.Int("retries", record.RetryCount))...)
	}
}
