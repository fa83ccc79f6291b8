package modellint

import (
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
var codes = []string{string(retry.OutcomeExhausted), string(retry.OutcomePermanent)}

// analysis is a task that this worker decides.
type analysis struct {
	// results are the variables that it returns, also with an error.
	results []string
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

// analysisOf returns what is known of an analysis task, nil for any other node. One whose job type is an
// expression decides what the worker's settings say.
func (l *linter) analysisOf(n *node) *analysis {
	_, set := l.options.JobTypes[n.jobType]
	feel, computed := expression(n.jobType)
	ours := func(jobType string) bool {
		return strings.HasPrefix(jobType+"-", contract.JobType+"-") || jobType == contract.BackoffJobType
	}
	meant := set || ours(n.jobType) || computed && slices.ContainsFunc(texts(feel), ours)
	if !n.isJob || !meant {
		return nil
	}
	a := &analysis{results: allResults}
	if n.jobType == contract.BackoffJobType {
		a.results = backoffResults
	}
	a.faults = input.ReadDecision(probe(n.headers), l.options.Policies, standardTypes[contract.JobType]).Invalid
	return a
}

// probe returns a job that has nothing wrong but its headers. The worker itself reads it, so that both find the same.
func probe(headers []entry) *job.Job {
	keys := map[string]string{}
	for _, h := range headers {
		keys[h.name] = h.value
	}
	s, _ := json.Marshal(keys) // texts
	return &job.Job{Headers: string(s), Variables: `{"claimId":"CLM-LINT-1","submissionError":"x"}`}
}

// jobTypesDecided returns the job types that the worker decides, sorted.
func (l *linter) jobTypesDecided() []string { return slices.Sorted(maps.Keys(l.options.JobTypes)) }

// isOutcome reports whether a node records how a round ended.
func isOutcome(n *node) bool {
	feel, is := expression(n.jobType)
	return n.isJob && (n.jobType == contract.OutcomeJobType || is && slices.Contains(texts(feel), contract.OutcomeJobType))
}

// correctType reads a misspelt job type as the one that was meant, so that one slip is one finding.
func (l *linter) correctType(n *node) {
	if _, computed := expression(n.jobType); computed || !n.isJob || l.analysisOf(n) != nil {
		return
	}
	if ours := misspelt(n.jobType, append(l.jobTypesDecided(), contract.OutcomeJobType)); ours != "" {
		l.meant[n], n.jobType = n.jobType, ours
	}
}

// correctCall reads a misspelt id of a bundled process as the one that was meant.
func (l *linter) correctCall(n *node) {
	if _, known := l.byID[n.calls]; known || n.calls == "" {
		return
	}
	for id, p := range l.byID {
		if p.known && text.OneSlip(n.calls, id) {
			l.meant[n], n.calls = n.calls, id
		}
	}
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
	_, known := l.byID[call.calls]
	return call.kind == "callActivity" && (!known || l.inCalled(call, isOutcome))
}

// inCalled reports whether something holds of a node in the process that a call activity calls, or in one that that calls.
func (l *linter) inCalled(call *node, holds func(*node) bool) bool {
	called := l.byID[call.calls]
	return called != nil && slices.ContainsFunc(called.nodes, func(n *node) bool {
		inner := l.byID[n.calls]
		return holds(n) || inner != nil && slices.ContainsFunc(inner.nodes, holds)
	})
}

// throws reports whether a node throws an error of the worker's. What a process calls throws what nothing in
// the called one catches.
func (l *linter) throws(n *node, code string) bool {
	called := l.byID[n.calls]
	return l.tasks[n] != nil || n.throwsError && n.errorCode == code ||
		called != nil && slices.ContainsFunc(called.nodes, func(in *node) bool {
			return (l.tasks[in] != nil || in.throwsError && in.errorCode == code) && len(catchers(in, code)) == 0
		})
}
