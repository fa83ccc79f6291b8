// Package input reads what a job asks: its process variables, its task headers and the policy that they name.
// It reports all that is wrong with a job at once, in words that repeat no personal data.
package input

import (
	"cmp"
	"math"
	"time"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// Decision is what a decision job asks.
type Decision struct {
	// Request is the question for the rule. Where Invalid is not nil it holds what could be read.
	Request retry.Request
	// Policy is the one that answers, with what task and job override; nil where the variables are no JSON
	// object.
	Policy *retry.Policy
	// OnExhausted and OnPermanent name with whom the model leaves a claim that is stopped so, such as
	// billing; empty where it does not name anyone.
	OnExhausted, OnPermanent string
	// Identity are the parts of the job that its decision depends on: a job is known again by its keys and
	// these.
	Identity []string
	// Invalid are all faults: of headers, of types and of values.
	Invalid Faults

	variables *reader
}

// ReadDecision reads a decision job. fallback names the policy of jobs whose task names none; it is among the
// known ones.
func ReadDecision(j *job.Job, known *policy.Set, fallback string) Decision {
	r := read("variables", j.Variables)
	d := Decision{variables: r, Identity: []string{j.Variables}, Invalid: r.faults}
	if d.Invalid != nil {
		return d
	}
	d.Identity = r.identity(contract.DecisionVariables())
	h := read("headers", cmp.Or(j.Headers, "{}"))
	if h.faults == nil {
		h.misspelt()
	}
	d.OnExhausted = optional(h, contract.HeaderOnExhausted, ruleWith, sound(retry.TeamForm.MatchString))
	d.OnPermanent = optional(h, contract.HeaderOnPermanent, ruleWith, sound(retry.TeamForm.MatchString))
	d.Policy = chosen(h, r, known, fallback)
	d.request(j)
	if d.Invalid = append(h.faults, r.faults...); d.Invalid != nil {
		// The same job is another question where other policies are known: an operator adds the one that was
		// missing, and resolves the incident.
		d.Identity = append(append(d.Identity, j.Headers), known.Versions()...)
	}
	return d
}

// Describe returns what a variable holds without repeating personal data.
func (d *Decision) Describe(variable string) string { return d.variables.shown(variable).String() }

// request reads the variables as the policy asks for them.
func (d *Decision) request(j *job.Job) {
	r, p, q := d.variables, d.Policy, &d.Request
	form, rule := claimID, ruleClaimID
	if p.IDs == retry.AnyIDs {
		form, rule = anyID, ruleAnyID
	}
	q.ProcessInstanceKey = j.ProcessInstanceKey
	q.ClaimID = required(r, contract.ClaimID, rule, isID(form))
	if missing := r.absent(contract.SubmissionError); !missing || p.OnEmptyError == retry.RejectEmptyError {
		rule := ruleSubmissionError
		if missing {
			rule = ruleMissingError
		}
		seen := func(s string) bool { return p.OnEmptyError == retry.UnknownEmptyError || !retry.Blank(s) }
		q.SubmissionError = required(r, contract.SubmissionError, rule, sound(seen))
	}
	count, _ := r.whole(contract.RetryCount, ruleRetryCount, 0, math.MaxInt32)
	q.RetryCount = int(count)
	q.RetryUntil = optional(r, contract.RetryUntil, ruleTime, func(s string) (time.Time, bool) {
		return retry.ParseRetryUntil(s, p.Zone)
	})
	q.LastSubmissionTime = lenient(d, contract.LastSubmissionTime, retry.ParseLastSubmissionTime)
	q.RetryAfter = lenient(d, contract.RetryAfter, retry.ParseRetryAfter)
}
