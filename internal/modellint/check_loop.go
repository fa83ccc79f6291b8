package modellint

import "hospital.example/analyze-retry/internal/worker/contract"

// ofTheFailure are the variables that come with the error of a submission.
var ofTheFailure = []string{contract.SubmissionError, contract.LastSubmissionTime, contract.RetryAfter}

// staleFailure finds variables of a failure that are still there at the next one. An error event that maps =submissionError
// takes the process's variable where the error brought none.
func (l *linter) staleFailure(event *node) {
	var analyzed []*node
	for _, n := range event.process.nodes {
		if l.tasks[n] != nil {
			analyzed = append(analyzed, n.next()...)
		}
	}
	if leads(analyzed, event.host, l.waits) {
		return // no-wait
	}
	l.addNaming(event, "stale-failure", ofTheFailure, func(v string) bool {
		m, is := event.output(v)
		feel, _ := expression(m.value)
		return is && reads(feel, v) && l.kept(v, analyzed, event.host)
	}, quoted(event.host))
}

// countKept finds a person's resubmission that begins with the count of the round before.
func (l *linter) countKept(submission *node) {
	var stopped []*node
	for _, n := range submission.process.nodes {
		for _, event := range l.caught(n) {
			stopped = append(stopped, event.after()...)
		}
	}
	if l.kept(contract.RetryCount, stopped, submission) {
		l.add(submission, "count-kept")
	}
}

// kept reports whether a variable can get from some nodes to another one as it is, without an analysis between.
func (l *linter) kept(variable string, from []*node, to *node) bool {
	return leads(from, to, func(n *node) bool { return n.sets(variable) || l.tasks[n] != nil })
}
