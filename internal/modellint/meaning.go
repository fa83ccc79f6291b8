package modellint

import (
	"cmp"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// codes are the error codes that the worker throws.
var codes = []string{string(retry.OutcomeExhausted), string(retry.OutcomePermanent)}

// results are the variables of a decision.
var results = []string{
	"shouldRetry", contract.RetryCount, "maxRetries", "backoffMinutes", "nextRetryTime", "retryReason",
	"errorClassification", contract.OriginalError, "retryDecision",
}

// resolve finds out what the nodes do. A misspelt name is a finding, and is then read as the one that was
// meant, so that one slip is one finding.
func (l *linter) resolve() {
	for _, n := range l.nodes {
		l.job(n)
		l.call(n)
	}
	for range 2 { // what is called may call others
		for _, n := range l.nodes {
			n.follow()
		}
	}
	for _, n := range l.nodes {
		n.mark()
	}
}

// job finds job types that the worker does not take, but was meant to. An expression can be one of its texts.
func (l *linter) job(n *node) {
	known := append(slices.Clone(l.jobTypes), contract.OutcomeJobType)
	analysis := func(jobType string) bool {
		ours := strings.HasPrefix(jobType+"-", contract.JobType+"-") || jobType == contract.BackoffJobType
		return ours || slices.Contains(l.jobTypes, jobType)
	}
	if ours := misspelt(n.jobType, known); ours != "" && !analysis(n.jobType) {
		l.add(n, "job-type-misspelt", n.jobType, ours)
		n.jobType = ours
	}
	feel, computed := expression(n.jobType)
	can := append(texts(feel), n.jobType)
	n.analyzes, n.records = slices.ContainsFunc(can, analysis), slices.Contains(can, contract.OutcomeJobType)
	if n.analyzes && !computed && !slices.Contains(known, n.jobType) {
		l.add(n, "job-type-without-policy", n.jobType, strings.Join(l.jobTypes, ", "))
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
	l.called[n.calls] = l.called[n.calls] || n.calls != n.process.id
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

// throws reports whether a node throws an error of the worker's. What a process calls throws what nothing in
// the called one catches.
func (n *node) throws(code string) bool {
	return n.analyzes || n.called != nil && slices.ContainsFunc(n.called.nodes, func(in *node) bool {
		return (in.analyzes || in.ends(code)) && catcher(in, code) == nil
	})
}

// ends reports whether a node ends its process, or a sub-process, by an error of this code.
func (n *node) ends(code string) bool { return n.throwsError && n.errorCode == code }

// mark marks the events and nodes that an analysis or a failure leads to.
func (n *node) mark() {
	for _, code := range codes {
		if !n.throws(code) {
			continue
		}
		if event := catcher(n, code); event != nil {
			event.catchesOurs = true
		}
	}
	if n.analyzes {
		ends := func(n *node) bool { return n.isActivity() || n.timer.kind != "" }
		for _, next := range reached(n.after(), ends) {
			next.behind = cmp.Or(next.behind, n)
		}
	}
	if n.catchesErrors && (n.host == nil || !n.host.analyzes && !n.host.loops) {
		for _, next := range reached(n.after(), (*node).isActivity) {
			if next.analyzes {
				n.analysis = cmp.Or(n.analysis, next)
			}
		}
	}
}

// submits reports whether a node is a submission of which an analysis decides what follows a failure.
func (n *node) submits() bool {
	return slices.ContainsFunc(n.boundary, func(event *node) bool { return event.analysis != nil })
}

// again reports whether a claim is sent by a node, or by the process that it calls.
func (n *node) again() bool { return n.submits() || n.loops }
