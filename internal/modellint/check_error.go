package modellint

import (
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/worker/contract"
)

// errorsCaught finds errors of the worker that no event catches. A process may leave them to one that calls it, of
// which the call is looked at, and says so by an end event of its own.
func (l *linter) errorsCaught(n *node) {
	if l.called[n.process.id] {
		return
	}
	l.addNaming(n, "error-not-caught", codes, func(code string) bool {
		thrown := func(other *node) bool {
			return other.throwsError && other.errorCode == code && len(catchers(other, code)) == 0
		}
		return l.throws(n, code) && !n.throwsError && len(catchers(n, code)) == 0 && !slices.ContainsFunc(n.process.nodes, thrown)
	})
}

// errorVariables finds events that catch an error of the worker and do not pass its variables on: those that are read after
// it must be mapped, and for a person the reason.
func (l *linter) errorVariables(n *node) {
	variables := allResults
	if a := l.tasks[n]; a != nil {
		variables = a.results
	}
	for _, event := range l.caught(n) {
		l.addNaming(event, "error-variables", variables, func(v string) bool {
			shown := func(n *node) bool {
				return v == "retryReason" && (n.kind == "userTask" || n.kind == "sendTask") || n.variables[v]
			}
			_, mapped := event.output(v)
			return !mapped && l.follows(event, v, shown)
		})
	}
}

// follows reports whether something holds of a node after an event, before a variable is written again. From the
// next analysis on it is another one's.
func (l *linter) follows(event *node, variable string, holds func(*node) bool) bool {
	again := func(n *node) bool { return l.tasks[n] != nil || l.analyses(n) }
	return meets(event.after(), func(n *node) bool { return !again(n) && holds(n) }, func(n *node) bool {
		_, written := n.output(variable)
		return written || again(n)
	})
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
	for event, task := range l.failures(p) {
		l.submissionError(event, task)
		if event.host != nil {
			l.staleFailure(event)
			l.countKept(event.host)
		}
	}
}

// submissionError looks at an event at a task, or in an event sub-process. What a sub-process throws itself has no variables:
// the text is where the work in it put it.
func (l *linter) submissionError(event, task *node) {
	if m, is := task.input(contract.SubmissionError); is && !isNull(m) || event.host != nil && event.host.isScope() {
		return
	}
	stops := func(n *node) bool {
		m, is := n.output(contract.SubmissionError)
		return is && !isNull(m) || n.isActivity() && n != task
	}
	if leads([]*node{event}, task, stops) {
		l.add(event, "submission-error", quoted(task))
	}
}

// isNull reports whether a mapping clears its variable.
func isNull(m entry) bool {
	feel, _ := expression(m.value)
	return strings.TrimSpace(feel) == "null" || m.value == ""
}
