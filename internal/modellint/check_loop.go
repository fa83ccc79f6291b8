package modellint

import (
	"slices"

	"hospital.example/analyze-retry/internal/worker/contract"
)

// waitMissing reports whether the claim can be sent again at once after an analysis.
func (n *node) waitMissing() bool {
	return slices.ContainsFunc(n.process.nodes, func(event *node) bool {
		return event.analysis == n && event.host != nil && leads(n.after(), event.host, (*node).waits)
	})
}

// submissionError finds error texts that do not reach the analysis. What a sub-process throws itself has no
// variables: the text is where the work in it put it.
func (l *linter) submissionError(event *node) {
	m, _ := event.analysis.entry("input", contract.SubmissionError)
	if !isNull(m) || event.host != nil && event.host.isScope() {
		return
	}
	stops := func(n *node) bool {
		m, _ := n.entry("output", contract.SubmissionError)
		return !isNull(m) || n.isActivity()
	}
	if leads([]*node{event}, event.analysis, stops) {
		l.add(event, "submission-error", quoted(event.analysis))
	}
}

// countChanged finds mappings of the count on the way of a retry, up to the next work or message.
func (l *linter) countChanged(event *node) {
	stops := func(n *node) bool { return n.works() || n.message != "" }
	for _, n := range reached(append(event.analysis.after(), event), stops) {
		if !stops(n) && n.sets(contract.RetryCount) {
			m, _ := n.entry("output", contract.RetryCount)
			l.add(n, "count-changed", m.value, quoted(event.analysis)).Line = m.line
		}
	}
}

// waits reports whether a claim waits at a node, or is analyzed there again.
func (n *node) waits() bool {
	return n.timer.kind != "" || n.message != "" || n.kind == "userTask" || n.analyzes
}

// ofTheFailure are the variables that come with the error of a submission.
var ofTheFailure = []string{contract.SubmissionError, contract.LastSubmissionTime, contract.RetryAfter}

// staleFailure finds variables of a failure that are still there at the next one. An error event that maps
// =submissionError takes the process's variable where the error brought none.
func (l *linter) staleFailure(event *node) {
	var analyzed []*node
	for _, n := range event.process.nodes {
		if n.analyzes {
			analyzed = append(analyzed, n.next()...)
		}
	}
	if leads(analyzed, event.host, (*node).waits) {
		return // no-wait
	}
	l.addNaming(event, "stale-failure", ofTheFailure, func(v string) bool {
		m, is := event.entry("output", v)
		return is && slices.Contains(m.reads(), v) && kept(v, analyzed, event.host)
	}, quoted(event.host))
}

// countKept finds a person's resubmission that begins with the count of the round before.
func (l *linter) countKept(submission *node) {
	var stopped []*node
	for _, n := range submission.process.nodes {
		if n.catchesOurs {
			stopped = append(stopped, n.after()...)
		}
	}
	if kept(contract.RetryCount, stopped, submission) {
		l.add(submission, "count-kept")
	}
}

// kept reports whether a variable gets from some nodes to another one as it is, without an analysis between.
func kept(variable string, from []*node, to *node) bool {
	return leads(from, to, func(n *node) bool { return n.analyzes || n.sets(variable) })
}

// timerLeads finds a timer behind an analysis that does not lead to the submission.
func (l *linter) timerLeads(timer *node) {
	decided := func(name string) bool { return slices.Contains(inTimers, name) }
	isWait := slices.ContainsFunc(timer.timer.reads(), decided)
	ends := func(n *node) bool { return n.finishes() || n.ended() }
	switch {
	case leads(timer.after(), timer.behind, (*node).works):
		l.add(timer, "timer-to-analysis", quoted(timer.behind))
	case isWait && slices.ContainsFunc(reached([]*node{timer}, (*node).works), ends):
		l.add(timer, "timer-dead-end")
	}
}
