package worker

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry"
)

// OutcomeJobType is the job type with which a process model reports how a round of submissions of a claim ended, or that
// a person had the claim sent again before its time.
const OutcomeJobType = "record-retry-outcome"

// OutcomeVariables are the variables that a `record-retry-outcome` job may bring; the first two are required.
func OutcomeVariables() []string { return append(outcomeNames(), reasonNames()...) }

// outcomeNames are the variables that say what happened, reasonNames those that say why and by whom.
func outcomeNames() []string { return []string{"claimId", "outcome"} }
func reasonNames() []string  { return []string{"justification", "operator", "redriveId"} }

// outcomes are the values of the variable outcome.
var outcomes = map[string]audit.Kind{
	"SUBMITTED": audit.KindSubmitted, "RESUBMITTED": audit.KindResubmitted, "ABANDONED": audit.KindAbandoned,
	"REDRIVEN": audit.KindRedriven,
}

// The bounds of what a person says. [MaxJustification] and [MaxOperator] are in characters.
const (
	MaxJustification = 500
	MaxOperator      = 100
)

const (
	ruleOutcome       = `SUBMITTED, RESUBMITTED, ABANDONED or REDRIVEN`
	ruleJustification = "a text that is not blank, at most 500 characters"
	ruleOperator      = "a text of at most 100 characters"
	ruleRedriveID     = "a UUID"
)

// OutcomeObserver is told of every outcome.
type OutcomeObserver interface {
	// OutcomeRecorded is called for every new outcome and every new re-drive, with what was stored of it.
	OutcomeRecorded(r *audit.Record)
	// Repeated is called for every job that was answered before, JobKeyReused where its key is known from another
	// process instance.
	Repeated()
	JobKeyReused()
}

// OutcomeHandler answers `record-retry-outcome` jobs: it records how a round of submissions ended, with how many
// attempts and since when, which it knows from the decisions of the round. A re-drive is recorded likewise, but ends no
// round.
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
	records, reasons := make([]audit.Record, len(jobs)), make([]reason, len(jobs))
	var outcomes []int
	var claims []string
	for i := range jobs {
		records[i], reasons[i] = h.record(&jobs[i])
		if records[i].Kind != audit.KindRejected {
			outcomes, claims = append(outcomes, i), append(claims, records[i].ClaimID)
		}
	}
	rounds, err := ofClaims(ctx, &h.trail, claims, h.trail.Rounds.Rounds)
	if err != nil {
		return h.trail.unavailable(jobs)
	}
	for n, i := range outcomes {
		addRound(&records[i], &jobs[i], &rounds[n], reasons[i])
		if rounds[n].AtLeast {
			h.log.Warn("round_counted_in_part", append(jobFields(&jobs[i]), zap.String("claimId", records[i].ClaimID),
				zap.String("detail", fmt.Sprintf("the round has %d records or more; its outcome is recorded with the attempts and retries of the first %[1]d: look for a process that submits this claim in a loop", audit.MaxRound)))...)
		}
	}
	stored, err := h.trail.Recorder.Record(ctx, records)
	if err != nil {
		return h.trail.unavailable(jobs)
	}
	answers := make([]job.Answer, len(jobs))
	for i := range jobs {
		h.tell(&jobs[i], &stored[i])
		answers[i] = h.trail.answer(&jobs[i], &stored[i].Record, nil, nil)
	}
	return answers
}

// record is what is to be stored of a job; of an outcome it lacks what [addRound] adds.
func (h *OutcomeHandler) record(j *job.Job) (audit.Record, reason) {
	v := parse(j)
	record := audit.Record{
		At:  h.now().UTC().Truncate(time.Microsecond),
		Key: h.trail.key(j, h.trail.Secret.Inputs(outcomeInputs(v, j)...)),
	}
	o, invalid := decodeOutcome(v)
	if invalid != nil {
		record.Kind, record.Message = audit.KindRejected, rejection(invalid)
		record.Detail = encodeDetail(&audit.Detail{ProcessID: j.ProcessID, ElementID: j.ElementID})
		return record, reason{}
	}
	record.Kind, record.ClaimID, record.Variables = o.kind, o.claimID, "{}"
	return record, o.reason
}

// addRound adds to an outcome with how many attempts it came, since when the claim had failed, and the reason.
func addRound(record *audit.Record, j *job.Job, round *audit.Round, why reason) {
	record.RetryCount = round.Retries
	detail := audit.Detail{
		ProcessID: j.ProcessID, ElementID: j.ElementID, Attempts: round.Failures,
		Justification: why.justification, Operator: why.operator, RedriveID: why.redriveID,
	}
	if record.Kind == audit.KindSubmitted {
		detail.Attempts++ // the one that was accepted
	}
	if !round.FirstFailure.IsZero() {
		detail.FirstFailureTime = &round.FirstFailure
	}
	record.Detail = encodeDetail(&detail)
}

// outcome is what a job says, reason what a person said to it; it is kept without personal data.
type outcome struct {
	kind    audit.Kind
	claimID string
	reason
}

type reason struct{ justification, operator, redriveID string }

// outcomeInputs are what the record of a job depends on. What a reason adds counts for a re-drive only, and only where it
// is there: a job that was recorded before there were re-drives is known again by the two variables it was recorded by.
func outcomeInputs(v variables, j *job.Job) []string {
	parts := v.inputs(j, outcomeNames())
	if v.get("outcome") != `"REDRIVEN"` {
		return parts
	}
	for _, name := range reasonNames() {
		if value := v.get(name); value != "" {
			parts = append(parts, name, value)
		}
	}
	return parts
}

// decodeOutcome reads the variables of the job; its error names all faults at once.
func decodeOutcome(v variables) (outcome, error) {
	if v == nil {
		return outcome{}, noObject
	}
	d := decoder{raw: v}
	o := outcome{claimID: strings.Clone(d.text("claimId", retry.RuleAnyID))} // see decode
	if !d.reported("claimId") && !retry.ValidID(o.claimID) {
		d.fault("claimId", retry.Shape(o.claimID), retry.RuleAnyID)
	}
	name := d.text("outcome", ruleOutcome)
	kind, known := outcomes[name]
	if !d.reported("outcome") && !known {
		d.fault("outcome", retry.Shape(name), ruleOutcome)
	}
	o.kind = kind
	if kind == audit.KindRedriven {
		o.reason = d.requiredReason()
	} else if kind != audit.KindSubmitted { // what the process still holds of an earlier order is no reason of the insurer's
		o.reason = d.givenReason()
	}
	return o, d.err(OutcomeVariables)
}

// requiredReason is that of a re-drive, which nobody may order without saying why.
func (d *decoder) requiredReason() reason {
	return reason{
		justification: d.bounded("justification", ruleJustification, MaxJustification, true),
		operator:      d.bounded("operator", ruleOperator, MaxOperator, false),
		redriveID:     d.uuid("redriveId"),
	}
}

// bounded reads a text of a person's.
func (d *decoder) bounded(variable, rule string, most int, required bool) string {
	if !required && d.absent(variable) {
		return ""
	}
	text := d.text(variable, rule)
	switch n := utf8.RuneCountInString(text); {
	case d.reported(variable):
	case n > most:
		d.fault(variable, "a text of "+strconv.Itoa(n)+" characters", rule)
	case required && strings.TrimSpace(text) == "":
		d.fault(variable, "blank", rule)
	default:
		return strings.Clone(redact.Text(text))
	}
	return ""
}

func (d *decoder) uuid(variable string) string {
	if d.absent(variable) {
		return ""
	}
	text := d.text(variable, ruleRedriveID)
	if id, err := uuid.Parse(text); err == nil {
		return id.String()
	}
	if !d.reported(variable) {
		d.fault(variable, retry.Shape(text), ruleRedriveID)
	}
	return ""
}

// givenReason is that of an end which a model reports. It may hold variables of these names for something else, or a text
// as long as a form takes: none of that may hold a claim up, so what does not fit is cut or left out.
func (d *decoder) givenReason() (r reason) {
	r.justification, r.operator = d.kept("justification", MaxJustification), d.kept("operator", MaxOperator)
	if id, err := uuid.Parse(d.given("redriveId")); err == nil {
		r.redriveID = id.String()
	}
	return r
}

// given is a variable's text, empty where it holds none.
func (d *decoder) given(variable string) string {
	if value := d.raw.get(variable); value != "" && value[0] == '"' {
		return unquote(value)
	}
	return ""
}

// kept is a variable's text without personal data, cut to so many characters.
func (d *decoder) kept(variable string, most int) string {
	text := []rune(strings.TrimSpace(storedError(d.given(variable))))
	return string(text[:min(len(text), most)])
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
		h.observer.OutcomeRecorded(record)
		h.log.Info("outcome_recorded", append(jobFields(j), zap.String("claimId", record.ClaimID),
			zap.String("outcome", strings.ToLower(record.Kind.String())), zap.Int("retries", record.RetryCount))...)
	}
}
