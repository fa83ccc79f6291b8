package modellint

import (
	"slices"

	"hospital.example/analyze-retry/internal/worker/contract"
)

// submission looks at a submission that fails: at what its event maps, and at the ways on which the claim is sent
// again.
func (l *linter) submission(f failure, caught []*node) {
	l.submissionError(f)
	l.countChanged(f)
	if f.submission == nil {
		return
	}
	if leads(f.analysis.after(), f.submission, (*node).waits) {
		l.add(f.analysis, "no-wait", quoted(f.submission))
	}
	l.staleFailure(f)
	l.countKept(f, caught)
}

// submissionError finds error texts that do not reach the analysis. What a sub-process throws itself has no
// variables: the text is where the work in it put it.
func (l *linter) submissionError(f failure) {
	m, is := f.analysis.entry("input", contract.SubmissionError)
	if is && !isNull(m) || f.submission != nil && f.submission.isScope() {
		return
	}
	stops := func(n *node) bool {
		m, is := n.entry("output", contract.SubmissionError)
		return is && !isNull(m) || n.isActivity() && n != f.analysis
	}
	if leads([]*node{f.event}, f.analysis, stops) {
		l.add(f.event, "submission-error", quoted(f.analysis))
	}
}

// countChanged finds mappings of the count on the way of a retry, up to the next work or message.
func (l *linter) countChanged(f failure) {
	stops := func(n *node) bool { return n.works() || n.message != "" }
	for _, n := range reached(append(f.analysis.after(), f.event), stops) {
		if !stops(n) && n.sets(contract.RetryCount) {
			m, _ := n.entry("output", contract.RetryCount)
			l.add(n, "count-changed", m.value, quoted(f.analysis)).Line = m.line
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
func (l *linter) staleFailure(f failure) {
	var analyzed []*node
	for _, n := range f.event.process.nodes {
		if n.analyzes {
			analyzed = append(analyzed, n.next()...)
		}
	}
	if leads(analyzed, f.submission, (*node).waits) {
		return // no-wait
	}
	l.addNaming(f.event, "stale-failure", ofTheFailure, func(v string) bool {
		m, is := f.event.entry("output", v)
		return is && slices.Contains(m.reads(), v) && kept(v, analyzed, f.submission)
	}, quoted(f.submission))
}

// countKept finds a person's resubmission that begins with the count of the round before.
func (l *linter) countKept(f failure, caught []*node) {
	var stopped []*node
	for _, event := range caught {
		stopped = append(stopped, event.after()...)
	}
	if kept(contract.RetryCount, stopped, f.submission) {
		l.add(f.submission, "count-kept")
	}
}

// kept reports whether a variable can get from some nodes to another one as it is, without an analysis between.
func kept(variable string, from []*node, to *node) bool {
	return leads(from, to, func(n *node) bool { return n.sets(variable) || n.analyzes })
}

// timerLeads finds a timer behind an analysis that does not lead to the submission.
func (l *linter) timerLeads(timer, analysis *node) {
	works := func(n *node) bool { return n != analysis && n.works() }
	switch {
	case leads(timer.after(), analysis, works):
		l.add(timer, "timer-to-analysis", quoted(analysis))
	case slices.ContainsFunc(reached([]*node{timer}, (*node).works), (*node).finishes):
		l.add(timer, "timer-dead-end")
	}
}
