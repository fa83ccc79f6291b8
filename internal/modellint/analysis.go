package modellint

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// codes are the error codes that the worker throws.
var codes = []string{retry.CodeMaxRetriesExceeded, retry.CodePermanentError}

// analysis is a task that this worker decides.
type analysis struct {
	// types are the job types that it can have: one, or with an expression several.
	types []string
	// results are the variables that it returns, also with an error.
	results []string
	// policies are those that can decide it, with what its headers change; those with a fault are left out.
	policies []*retry.Policy
	// faults are what the worker finds wrong with its headers.
	faults input.Faults
}

// results are the variables of a decision.
var (
	allResults = []string{
		"shouldRetry", "retryCount", "maxRetries", "backoffMinutes", "nextRetryTime", "retryReason", "errorClassification",
		contract.OriginalError, "retryDecision",
	}
	backoffResults = []string{"shouldRetry", "nextRetryTime", "retryCount", "retryReason", "backoffMinutes"}
)

// analysisOf returns what is known of an analysis task, nil for any other node.
func (l *linter) analysisOf(n *node) *analysis {
	if !n.isJob {
		return nil
	}
	a := &analysis{types: l.decided(n.jobType), results: allResults}
	if len(a.types) == 0 {
		return nil
	}
	if len(a.types) == 1 && a.types[0] == contract.BackoffJobType {
		a.results = backoffResults
	}
	for _, t := range a.types {
		name := cmp.Or(l.options.JobTypes[t], standardTypes[contract.JobType])
		d := input.ReadDecision(probe(n.headers), l.options.Policies, name)
		if a.faults = d.Invalid; a.faults == nil {
			a.policies = append(a.policies, d.Policy)
		}
	}
	return a
}

// probe returns a job that has nothing wrong but its headers. The worker itself reads it, so that both find the same.
func probe(headers []header) *job.Job {
	keys := map[string]string{}
	for _, h := range headers {
		keys[h.key] = h.value
	}
	s, _ := json.Marshal(keys) // texts
	return &job.Job{Headers: string(s), Variables: `{"claimId":"CLM-LINT-1","submissionError":"x"}`}
}

// decided returns the job types of the worker that a task definition can mean; none if it means another worker's.
func (l *linter) decided(jobType string) (types []string) {
	known := l.jobTypesDecided()
	feel, is := expression(jobType)
	if !is {
		if slices.Contains(known, jobType) || strings.HasPrefix(jobType, contract.JobType+"-") || jobType == contract.BackoffJobType {
			return []string{jobType}
		}
		return nil
	}
	for _, s := range texts(feel) {
		ours := strings.HasPrefix(s, contract.JobType) || strings.HasPrefix(s, contract.BackoffJobType)
		for _, t := range known {
			if s != "" && strings.HasPrefix(t, s) && (ours || len(s) > 3) {
				types = append(types, t)
			}
		}
		if ours && len(types) == 0 {
			types = append(types, s)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// jobTypesDecided returns the job types that the worker decides, sorted.
func (l *linter) jobTypesDecided() []string { return slices.Sorted(maps.Keys(l.options.JobTypes)) }

// isOutcome reports whether a node records how a round ended.
func isOutcome(n *node) bool {
	feel, is := expression(n.jobType)
	return n.isJob && (n.jobType == contract.OutcomeJobType || is && slices.Contains(texts(feel), contract.OutcomeJobType))
}

// mistyped returns the job type of the worker that a task's was most likely meant to be, empty for none.
func (l *linter) mistyped(jobType string) string {
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(s))
	}
	for _, ours := range append(l.jobTypesDecided(), contract.OutcomeJobType) {
		if a, b := plain(jobType), plain(ours); a == b || text.OneSlip(a, b) {
			return ours
		}
	}
	return ""
}

// concerned reports whether a process has the worker's tasks, or calls one that has.
func (l *linter) concerned(p *process) bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool { return l.tasks[n] != nil || isOutcome(n) || l.analyses(n) })
}

// analyses reports whether a call activity calls a process that analyzes.
func (l *linter) analyses(call *node) bool {
	return l.inCalled(call, func(n *node) bool { return l.tasks[n] != nil })
}

// records reports whether a call activity calls a process that records outcomes, or one that is not known.
func (l *linter) records(call *node) bool {
	if call.kind != "callActivity" {
		return false
	}
	if _, known := l.byID[call.calls]; !known {
		return true
	}
	return l.inCalled(call, isOutcome)
}

// inCalled reports whether something holds of a node in the process that a call activity calls, or in those which that calls.
func (l *linter) inCalled(call *node, holds func(*node) bool) bool {
	seen := map[*process]bool{}
	var in func(call *node) bool
	in = func(call *node) bool {
		p := l.byID[call.calls]
		if call.calls == "" || p == nil || seen[p] {
			return false
		}
		seen[p] = true
		return slices.ContainsFunc(p.nodes, func(n *node) bool { return holds(n) || in(n) })
	}
	return in(call)
}

// findEscapes finds which codes of the worker's errors leave which process. One process may throw what another one does that it
// calls, so it looks again until nothing is new.
func (l *linter) findEscapes(all []*process) {
	for found := true; found; {
		found = false
		for _, p := range all {
			for _, code := range codes {
				if !slices.Contains(p.escaping, code) && slices.ContainsFunc(p.nodes, func(n *node) bool { return l.throws(n, code) && len(catchers(n, code)) == 0 }) {
					p.escaping, found = append(p.escaping, code), true
				}
			}
		}
	}
}

// throws reports whether a node throws an error of the worker's, or passes one on.
func (l *linter) throws(n *node, code string) bool {
	if called := l.byID[n.calls]; called != nil && slices.Contains(called.escaping, code) {
		return true
	}
	return l.tasks[n] != nil || n.throwsError && n.errorCode == code
}
