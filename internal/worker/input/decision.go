// Package input reads what a job asks: its process variables, its task headers and the policy that they name. It reports
// all that is wrong with a job at once, in words that repeat no personal data.
package input

import (
	"math"
	"strings"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Decision is what a decision job asks.
type Decision struct {
	// Request is the question for the rule. Where Invalid is not nil it holds what could be read.
	Request retry.Request
	// Policy is the one that answers, with what task and job override; nil where the variables are no JSON object.
	Policy *retry.Policy
	// OnExhausted and OnPermanent name with whom the model leaves a claim that is stopped so, such as billing; empty where
	// it does not name anyone.
	OnExhausted, OnPermanent string
	// Identity are the parts of the job that its decision depends on: a job is known again by its keys and these.
	Identity []string
	// Invalid names all faults, nil where there are none: of headers, of types and of values. It holds shapes of values,
	// never values.
	Invalid *retry.InvalidInputError

	variables variables
}

// ReadDecision reads a decision job. fallback names the policy of jobs whose task names none; it is among the known ones.
func ReadDecision(j *job.Job, known *policy.Set, fallback string) Decision {
	v := parse(j.Variables)
	d := Decision{variables: v, Identity: identity(v, j)}
	if v == nil {
		d.Invalid = notObject
		return d
	}
	r := &reader{variables: v}
	chosen, settled := r.policyFor(j, known, fallback)
	if !settled {
		// The same job is another question where other policies are known: an operator adds the one that was missing, and
		// resolves the incident.
		d.Identity = append(d.Identity, j.Headers, known.Version())
	}
	d.Policy, d.Request = chosen, r.request(j, chosen)
	d.OnExhausted, d.OnPermanent = r.onExhausted, r.onPermanent
	d.Invalid = r.err(contract.DecisionVariables)
	return d
}

// Describe returns what a variable holds without repeating personal data. The variable must be there.
func (d *Decision) Describe(variable string) string {
	return d.variables.get(variable).describe().String()
}

// identity returns the variables that every version reads, as they came, or the whole text where that is no JSON object. A
// variable that came with a later version counts only where it is there, so that a job that was decided before is known
// again. Which other variables a gateway sends along, and in which order, makes no difference.
func identity(v variables, j *job.Job) []string {
	if v == nil {
		return []string{j.Variables}
	}
	parts := make([]string, 0, 8)
	for _, name := range contract.FirstVariables() {
		parts = append(parts, string(v.get(name)))
	}
	for _, name := range contract.LaterVariables() {
		if value := v.get(name); !value.absent() {
			parts = append(parts, name, string(value))
		}
	}
	return parts
}

// request reads the variables and has the policy check their values.
func (r *reader) request(j *job.Job, p *retry.Policy) retry.Request {
	r.zone = p.Zone
	request := retry.Request{
		ClaimID:            r.text(contract.ClaimID, retry.RuleClaimID),
		RetryUntil:         r.time(contract.RetryUntil),
		ProcessInstanceKey: j.ProcessInstanceKey,
	}
	count, _ := r.whole(contract.RetryCount, retry.RuleRetryCount, 0, math.MaxInt32)
	request.RetryCount = int(count)
	request.LastSubmissionTime = outside(r, contract.LastSubmissionTime, retry.ParseLastSubmissionTime)
	request.RetryAfter = outside(r, contract.RetryAfter, retry.ParseRetryAfter)
	request.Ignored = r.ignored
	if !p.AcceptEmptyError || !r.get(contract.SubmissionError).absent() {
		rule := retry.RuleSubmissionError
		if r.get(contract.SubmissionError).absent() {
			rule = text.Messagef("%s (has the error event an output mapping?)", rule)
		}
		request.SubmissionError = r.text(contract.SubmissionError, rule)
	}
	for _, f := range p.Faults(request) {
		if !r.faulty(f.Variable) {
			r.faults = append(r.faults, f)
		}
	}
	if r.faulty(contract.ClaimID) {
		request.ClaimID = "" // it may be anything
	}
	request.ClaimID = strings.Clone(request.ClaimID) // what is kept of a job keeps no other part of its text
	return request
}
