package modellint

import (
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// errorsCaught finds errors of the worker that no event catches.
func (l *linter) errorsCaught(n *node) {
	var loose []string
	for _, code := range codes {
		if l.throws(n, code) && !n.throwsError && len(catchers(n, code)) == 0 {
			loose = append(loose, code)
		}
	}
	if len(loose) == 0 || l.passesOn(n.process, loose) {
		return
	}
	thrower := "the worker"
	if l.tasks[n] == nil {
		thrower = "the process " + n.calls
	}
	l.add(n, "error-not-caught", enumerated(loose), thrower)
}

// passesOn reports whether a process leaves errors to the processes that call it: if one of the files does, or if it throws such
// an error by an end event of its own. In a file that calls it, the call activity is looked at.
func (l *linter) passesOn(p *process, loose []string) bool {
	if slices.ContainsFunc(l.callers[p.id], func(call *node) bool { return call.process != p }) {
		return true
	}
	return slices.ContainsFunc(p.nodes, func(n *node) bool {
		return n.throwsError && slices.Contains(loose, n.errorCode) && len(catchers(n, n.errorCode)) == 0
	})
}

// results returns the variables that come with an error of a task; all of them for a call activity.
func results(a *analysis) []string {
	if a == nil {
		return allResults
	}
	return a.results
}

// shouldRetry is the variable by which a gateway sends a claim again.
const shouldRetry = "shouldRetry"

// errorVariables finds events that catch an error of the worker and do not pass its variables on.
func (l *linter) errorVariables(n *node) {
	seen := map[*node]bool{}
	for _, code := range codes {
		if !l.throws(n, code) || n.throwsError {
			continue
		}
		for _, event := range catchers(n, code) {
			if !seen[event] {
				seen[event] = true
				l.errorEvent(event, results(l.tasks[n]))
			}
		}
	}
}

// errorEvent checks one event that catches an error with these variables: those that are read must be mapped, and for a person
// the reason.
func (l *linter) errorEvent(event *node, variables []string) {
	var missing, lost []string
	for _, v := range variables {
		if _, is := event.output(v); is {
			continue
		}
		missing = append(missing, v)
		if l.readAfter(event, v) {
			lost = append(lost, v)
		}
	}
	severity := text.Error
	onlyFlag := slices.Equal(missing, []string{shouldRetry})
	if len(lost) == 0 && (onlyFlag || slices.Contains(missing, "retryReason")) && l.reachesPerson(event) {
		lost = missing
		if len(missing) < len(variables) {
			severity = text.Warning
		}
	}
	switch {
	case len(lost) == 0:
	case len(lost) == 1 && lost[0] == shouldRetry:
		l.add(event, "stale-flag").Severity = severity
	default:
		l.add(event, "error-variables", enumerated(lost)).Severity = severity
	}
}

// readAfter reports whether something reads a variable after an event, before it is written again.
func (l *linter) readAfter(event *node, variable string) (is bool) {
	walk(event.after(), func(n *node) bool {
		if l.tasks[n] != nil || l.analyses(n) || is {
			return false // from here on it is another analysis
		}
		is = n.variables[variable]
		_, written := n.output(variable)
		return !is && !written
	})
	return is
}

// reachesPerson reports whether after an event a task shows variables to a person, or takes them to another system.
func (l *linter) reachesPerson(event *node) (does bool) {
	walk(event.after(), func(n *node) bool {
		if l.tasks[n] != nil || l.analyses(n) {
			return false
		}
		does = does || n.kind == "userTask" || n.kind == "sendTask"
		return !does
	})
	return does
}

// failures returns the events that catch the error of a submission and lead to an analysis, each with that analysis. On the way
// there nothing is worked that could bring the error's text as well.
func (l *linter) failures(p *process) map[*node]*node {
	found := map[*node]*node{}
	for _, event := range p.nodes {
		ours := event.host != nil && (l.tasks[event.host] != nil || l.analyses(event.host))
		if !event.catchesErrors || ours {
			continue
		}
		walk(event.after(), func(n *node) bool {
			if l.tasks[n] != nil && found[event] == nil {
				found[event] = n
			}
			return !n.isActivity()
		})
	}
	return found
}

// submissionErrors finds error texts that do not reach the analysis, and those of the failure before that do.
func (l *linter) submissionErrors(p *process) {
	failures := l.failures(p)
	for _, event := range p.nodes {
		task := failures[event]
		if task == nil {
			continue
		}
		l.submissionError(event, task)
		if event.host != nil {
			l.staleFailure(event)
			l.countKept(event.host)
		}
	}
}

func (l *linter) submissionError(event, task *node) {
	if m, is := task.input(contract.SubmissionError); is && !isNull(m) {
		return
	}
	sets := func(n *node) bool {
		m, is := n.output(contract.SubmissionError)
		return is && !isNull(m)
	}
	stops := func(n *node) bool { return sets(n) || n.isActivity() && n != task }
	if sets(event) || path(event.after(), task, stops) == nil || raised(event) {
		return
	}
	f := l.add(event, "submission-error", quoted(task))
	if a := l.tasks[task]; len(a.policies) > 0 && a.policies[0].AcceptEmptyError {
		f.Severity = text.Warning
	}
}

// raised reports whether an error event catches an end event in the sub-process that it is attached to. Such an error has no
// variables: the text is where the work before it put it.
func raised(event *node) bool {
	var in func(scope *node) bool
	in = func(scope *node) bool {
		return slices.ContainsFunc(scope.children, func(n *node) bool {
			return n.throwsError && (event.errorCode == "" || event.errorCode == n.errorCode) || in(n)
		})
	}
	return event.host != nil && in(event.host)
}

// isNull reports whether a mapping clears its variable.
func isNull(m mapping) bool {
	feel, _ := expression(m.source)
	return strings.TrimSpace(feel) == "null" || strings.TrimSpace(m.source) == ""
}
