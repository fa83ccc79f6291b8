package input

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Outcome is what an outcome job reports: how a round of submissions ended, that the claim was sent again, or that a person's
// answer was no decision.
type Outcome struct {
	Kind    audit.Kind
	ClaimID string
	// Justification is what a person said, redacted, and DecidedBy who, as given: a user of the hospital whom
	// audit must be able to name, not a patient. RedriveID is the command by which.
	Justification, DecidedBy, RedriveID string
	// RedriveWait is how long the process waits before it sends the claim again, as ISO 8601; empty where it does so at once.
	RedriveWait string
	// DecisionProblem is what was wrong with a person's answer, redacted; empty unless Kind is [audit.KindDecisionRefused].
	DecisionProblem string
	// Identity and Invalid are those of [Decision].
	Identity []string
	Invalid  *retry.InvalidInputError
}

// outcomeKinds are the values of the variable outcome.
var outcomeKinds = map[string]audit.Kind{
	"SUBMITTED": audit.KindSubmitted, "RESUBMITTED": audit.KindResubmitted, "ABANDONED": audit.KindAbandoned,
	"REDRIVEN": audit.KindRedriven, "DECISION_REFUSED": audit.KindDecisionRefused,
}

// Outcomes returns the values of the variable outcome, sorted.
func Outcomes() []string { return slices.Sorted(maps.Keys(outcomeKinds)) }

var (
	ruleOutcome       = text.Messagef("SUBMITTED, RESUBMITTED, ABANDONED, REDRIVEN or DECISION_REFUSED")
	ruleJustification = text.Messagef("a text that is not blank, at most 500 characters")
	ruleDecidedBy     = text.Messagef("a text of at most 128 characters")
	ruleRedriveID     = text.Messagef("a UUID")
	ruleRedriveWait   = text.Messagef("a duration such as PT30S or PT40M")
)

// ReadOutcome reads an outcome job.
func ReadOutcome(j *job.Job) Outcome {
	v := parse(j.Variables)
	if v == nil {
		return Outcome{Identity: []string{j.Variables}, Invalid: notObject}
	}
	r := &reader{variables: v}
	o := Outcome{Identity: outcomeIdentity(v), ClaimID: strings.Clone(r.text(contract.ClaimID, retry.RuleAnyID))}
	if !r.faulty(contract.ClaimID) && !retry.ValidID(o.ClaimID) {
		r.fault(contract.ClaimID, retry.Shape(o.ClaimID), retry.RuleAnyID)
	}
	name := r.text(contract.Outcome, ruleOutcome)
	kind, known := outcomeKinds[name]
	if !r.faulty(contract.Outcome) && !known {
		r.fault(contract.Outcome, retry.Shape(name), ruleOutcome)
	}
	o.Kind = kind
	if kind == audit.KindRedriven {
		o.readOrder(r)
	} else if kind != audit.KindSubmitted { // what the process still holds of an earlier order is no reason of the insurer's
		o.readReason(r)
	}
	o.Invalid = r.err(contract.OutcomeVariables)
	return o
}

// outcomeIdentity returns the variables that the record of a job depends on. What a person said counts for a re-drive only, and
// only where it is there: a job that was recorded before there were re-drives is known again by two variables.
func outcomeIdentity(v variables) []string {
	parts := []string{string(v.get(contract.ClaimID)), string(v.get(contract.Outcome))}
	if v.get(contract.Outcome) != `"REDRIVEN"` {
		return parts
	}
	for _, name := range []string{contract.Justification, contract.DecidedBy, contract.RedriveID, contract.RedriveWait} {
		if value := v.get(name); value != "" {
			parts = append(parts, name, string(value))
		}
	}
	return parts
}

// readOrder reads what a person said who ordered a re-drive, which needs a justification.
func (o *Outcome) readOrder(r *reader) {
	o.Justification = redact.Text(r.written(contract.Justification, ruleJustification, contract.MaxJustification))
	if !r.faulty(contract.Justification) && strings.TrimSpace(o.Justification) == "" {
		r.fault(contract.Justification, text.Messagef("blank"), ruleJustification)
	}
	if !r.get(contract.DecidedBy).absent() {
		o.DecidedBy = r.written(contract.DecidedBy, ruleDecidedBy, contract.MaxDecidedBy)
	}
	o.RedriveID = r.uuid(contract.RedriveID, ruleRedriveID)
	if r.get(contract.RedriveWait).absent() {
		return
	}
	s := r.text(contract.RedriveWait, ruleRedriveWait)
	wait, err := retry.ParseDuration(s)
	switch {
	case err == nil && wait > 0:
		o.RedriveWait = contract.ISODuration(wait)
	case !r.faulty(contract.RedriveWait):
		r.fault(contract.RedriveWait, retry.Shape(s), ruleRedriveWait)
	}
}

// readReason reads what a model reports of an end, or of an answer that was no decision. It may hold
// variables of these names for something else, or a text as long as a form takes: none of that may hold a
// claim up, so what does not fit is cut or left out.
func (o *Outcome) readReason(r *reader) {
	given := func(variable string) string {
		s, _ := r.get(variable).text()
		return s
	}
	cut := func(s string, most int) string {
		runes := []rune(strings.TrimSpace(s))
		return string(runes[:min(len(runes), most)])
	}
	o.Justification = cut(redact.Stored(given(contract.Justification)), contract.MaxJustification)
	o.DecidedBy = cut(given(contract.DecidedBy), contract.MaxDecidedBy)
	if o.Kind == audit.KindDecisionRefused {
		o.DecisionProblem = cut(redact.Stored(given(contract.DecisionProblem)), contract.MaxDecisionProblem)
		return
	}
	if id, err := uuid.Parse(given(contract.RedriveID)); err == nil {
		o.RedriveID = id.String()
	}
}
