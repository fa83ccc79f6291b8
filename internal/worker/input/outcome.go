package input

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// Outcome is what an outcome job reports: how a round of submissions ended, that the claim was sent again, or
// that a person's answer was no decision.
type Outcome struct {
	Kind    audit.Kind
	ClaimID string
	// OfTask is what the task's header names: the policy that decides the failures of such claims, or the job
	// type that has it. It is empty without one.
	OfTask string
	// Said is what a person said, who it was, and by which command.
	Said contract.Detail
	// Identity and Invalid are those of [Decision].
	Identity []string
	Invalid  Faults
}

// Outcomes returns the values of the variable outcome, which are names of kinds, sorted.
func Outcomes() []string {
	return []string{"ABANDONED", "DECISION_REFUSED", "REDRIVEN", "RESUBMITTED", "SUBMITTED"}
}

// ReadOutcome reads an outcome job.
func ReadOutcome(j *job.Job) Outcome {
	r := read("variables", j.Variables)
	if r.faults != nil {
		return Outcome{Identity: []string{j.Variables}, Invalid: r.faults}
	}
	o := Outcome{
		Identity: r.identity(contract.OutcomeVariables()),
		OfTask:   gjson.Get(j.Headers, contract.HeaderPolicy).Str,
		ClaimID:  required(r, contract.ClaimID, ruleAnyID, isID(anyID)),
		Kind: required(r, contract.Outcome, ruleOutcome, func(s string) (audit.Kind, bool) {
			return audit.KindOf(s), slices.Contains(Outcomes(), s)
		}),
	}
	// These two are ours by their names: whatever the outcome, a wrong one is the model's mistake.
	id := optional(r, contract.RedriveID, ruleRedriveID, func(s string) (string, bool) {
		id, err := uuid.Parse(s)
		return id.String(), err == nil
	})
	wait := optional(r, contract.RedriveWait, ruleRedriveWait, func(s string) (retry.ISODuration, bool) {
		d, err := retry.ParseDuration(s)
		return retry.ISODuration(d), err == nil
	})
	switch {
	case o.Kind == audit.KindRedriven:
		o.Said.RedriveID, o.Said.RedriveWait = id, wait
		o.readOrder(r)
	case o.Kind == audit.KindDecisionRefused:
		o.readReason(r)
		problem := redact.Text(r.values[contract.DecisionProblem].Str)
		o.Said.DecisionProblem = typed(problem, contract.MaxDecisionProblem)
	// What is left of an earlier order is no reason of the insurer's.
	case o.Kind != audit.KindSubmitted || gjson.Get(j.Headers, contract.HeaderByPerson).Str == "true":
		o.Said.RedriveID = id
		o.readReason(r)
	}
	o.Invalid = r.faults
	return o
}

// readOrder reads what a person said who ordered a re-drive, which needs a justification.
func (o *Outcome) readOrder(r *reader) {
	reason := func(s string) (string, bool) {
		said := redact.Text(s)
		return said, !retry.Blank(said) && utf8.RuneCountInString(s) <= contract.MaxJustification
	}
	o.Said.Justification = required(r, contract.Justification, ruleJustification, reason)
	o.Said.DecidedBy = optional(r, contract.DecidedBy, ruleDecidedBy, sound(func(s string) bool {
		return utf8.RuneCountInString(s) <= contract.MaxDecidedBy
	}))
}

// readReason reads what a model reports of an end, or of an answer that was no decision. It may hold
// variables of these names for something else, or a text as long as a form takes: none of that may hold a
// claim up, so what does not fit is cut or left out.
func (o *Outcome) readReason(r *reader) {
	o.Said.Justification = typed(redact.Text(r.values[contract.Justification].Str), contract.MaxJustification)
	o.Said.DecidedBy = typed(r.values[contract.DecidedBy].Str, contract.MaxDecidedBy)
}

// typed returns a text that somebody typed, cut to so many characters.
func typed(text string, most int) string {
	runes := []rune(strings.TrimSpace(text))
	return string(runes[:min(len(runes), most)])
}
