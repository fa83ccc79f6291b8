package modellint

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// codes are the error codes that the worker throws.
var codes = []string{string(retry.OutcomeExhausted), string(retry.OutcomePermanent)}

// results are the variables of a decision.
var results = []string{
	"shouldRetry", "retryCount", "maxRetries", "backoffMinutes", "nextRetryTime", "retryReason", "errorClassification",
	contract.OriginalError, "retryDecision",
}

// jobTypes returns the job types that the worker decides, sorted.
func (l *linter) jobTypes() []string { return slices.Sorted(maps.Keys(l.options.JobTypes)) }

// analysis reports whether a job type is one that this worker decides, if its settings have it. What an expression
// makes is.
func (l *linter) analysis(jobType string) bool {
	ours := func(jobType string) bool {
		return strings.HasPrefix(jobType+"-", contract.JobType+"-") || jobType == contract.BackoffJobType
	}
	_, set := l.options.JobTypes[jobType]
	feel, computed := expression(jobType)
	return set || ours(jobType) || computed && slices.ContainsFunc(texts(feel), ours)
}

// resolve finds out what the nodes do. A misspelt name is a finding, and is then read as the one that was meant, so
// that one slip is one finding.
func (l *linter) resolve() {
	for _, p := range l.processes {
		for _, n := range p.nodes {
			l.job(n)
			l.call(n)
		}
	}
	for range 2 { // what is called may call others
		for _, p := range l.processes {
			for _, n := range p.nodes {
				n.follow()
			}
		}
	}
}

// job finds job types that the worker does not take, but was meant to.
func (l *linter) job(n *node) {
	known := append(l.jobTypes(), contract.OutcomeJobType)
	if ours := misspelt(n.jobType, known); ours != "" && !l.analysis(n.jobType) {
		l.add(n, "job-type-misspelt", n.jobType, ours)
		n.jobType = ours
	}
	feel, computed := expression(n.jobType)
	n.analyzes = l.analysis(n.jobType)
	n.records = n.jobType == contract.OutcomeJobType || computed && slices.Contains(texts(feel), contract.OutcomeJobType)
	if _, set := l.options.JobTypes[n.jobType]; n.analyzes && !set && !computed && !n.process.bundled {
		l.add(n, "job-type-without-policy", n.jobType, strings.Join(l.jobTypes(), ", "))
	}
}

// call finds calls of a process that is most likely a bundled one.
func (l *linter) call(n *node) {
	if ours := misspelt(n.calls, l.bundled); ours != "" && l.byID[n.calls] == nil {
		l.add(n, "process-misspelt", n.calls, ours)
		n.calls = ours
	}
	n.called = l.byID[n.calls]
	n.recorded = n.records || n.kind == "callActivity" && n.called == nil
	if n.called != nil && n.called != n.process {
		n.called.called = true
	}
}

// follow adds what a process does that a node calls.
func (n *node) follow() {
	if n.called == nil {
		return
	}
	for _, in := range n.called.nodes {
		n.loops = n.loops || in.analyzes || in.loops
		n.recorded = n.recorded || in.recorded
	}
}

// concerned reports whether a process has the worker's tasks, or calls one that has.
func (p *process) concerned() bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool { return n.analyzes || n.records || n.loops })
}

// throws reports whether a node throws an error of the worker's. What a process calls throws what nothing in the
// called one catches.
func (n *node) throws(code string) bool {
	return n.analyzes || n.called != nil && slices.ContainsFunc(n.called.nodes, func(in *node) bool {
		return (in.analyzes || in.ends(code)) && len(catchers(in, code)) == 0
	})
}

// ends reports whether a node ends its process, or a sub-process, by an error of this code.
func (n *node) ends(code string) bool { return n.throwsError && n.errorCode == code }

// caught returns the events of a process that catch errors of the worker's.
func (p *process) caught() (events []*node) {
	for _, n := range p.nodes {
		for _, code := range codes {
			if n.throws(code) {
				events = append(events, catchers(n, code)...)
			}
		}
	}
	return events
}

// failure is a submission that fails.
type failure struct {
	// event catches the error, at submission or, where that is nil, as the start of an event sub-process.
	event, submission *node
	// analysis is where the error is analyzed.
	analysis *node
}

// failures returns those of a process. On the way from the event to its analysis nothing is worked that could bring
// the error's text as well.
func (p *process) failures() (found []failure) {
	for _, event := range p.nodes {
		ours := event.host != nil && (event.host.analyzes || event.host.loops)
		if !event.catchesErrors || ours {
			continue
		}
		behind := reached(event.after(), (*node).isActivity)
		if at := slices.IndexFunc(behind, func(n *node) bool { return n.analyzes }); at >= 0 {
			found = append(found, failure{event, event.host, behind[at]})
		}
	}
	return found
}

// afterAnalysis returns, for each node that follows an analysis over gateways and events up to a timer or a task, that
// analysis.
func (p *process) afterAnalysis() map[*node]*node {
	found := map[*node]*node{}
	for _, task := range p.nodes {
		if !task.analyzes {
			continue
		}
		stops := func(n *node) bool { return n.isActivity() || n.timer.kind != "" }
		for _, n := range reached(task.after(), stops) {
			found[n] = cmp.Or(found[n], task)
		}
	}
	return found
}
