package modellint

import (
	"fmt"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/text"
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
	thrown := "the worker throws " + enumerated(loose)
	if l.tasks[n] == nil {
		thrown = "the process " + n.calls + " ends with " + enumerated(loose)
	}
	var fixes []string
	for _, code := range loose {
		fixes = append(fixes, boundary(n, code, same(results(l.tasks[n]))))
	}
	f := text.Finding{
		What: thrown + ", which nothing catches",
		Effect: "The claim stops as an incident of this task (UNHANDLED_ERROR_EVENT). " +
			"No person gets it.",
		Advice: "Attach an error event for each code and let it lead to a person's task. (The error itself belongs next to the process.)",
		Fix:    strings.Join(fixes, "\n\n"),
	}
	if len(l.callers[n.process.id]) == 0 {
		f.Advice += " If another process calls this one and catches the errors, pass its file too."
	}
	l.add(n, text.Error, ruleErrorNotCaught, f)
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

// errorEvent checks one event that catches an error with these variables.
func (l *linter) errorEvent(event *node, variables []string) {
	var missing, read []string
	for _, v := range variables {
		if _, is := event.output(v); is {
			continue
		}
		missing = append(missing, v)
		if l.readAfter(event, v) {
			read = append(read, v)
		}
	}
	f := text.Finding{
		Advice: "Map the variables at this event:",
		Fix:    outputs(same(missing)...),
	}
	if at := slices.Index(read, shouldRetry); at >= 0 {
		read = slices.Delete(read, at, at+1)
		stale := f
		stale.What = "shouldRetry is read after the error, but this event does not map it"
		stale.Effect = "It is still true, from the analysis before: a gateway sends the claim again although the retries are over."
		stale.Fix = outputs(same([]string{shouldRetry})...)
		l.add(event, text.Error, ruleStale, stale)
	}
	person := l.reachesPerson(event)
	switch {
	case len(read) > 0:
		f.What = fmt.Sprintf("%s %s read after the error, but this event does not map %s", enumerated(read), isAre(read), itThem(read))
		f.Effect = "What reads it gets " + before(event) + ". Zeebe keeps an error's variables in the event that catches it."
		l.add(event, text.Error, ruleErrorVariables, f)
	case len(missing) == len(variables) && person != nil:
		f.What = "the event maps none of the error's variables"
		f.Effect = fmt.Sprintf("%s shows %s, and not why the claim stopped. Zeebe keeps an error's variables in the event that catches it.", quoted(person), before(event))
		l.add(event, text.Error, ruleErrorVariables, f)
	case person != nil && slices.Contains(missing, shouldRetry) && len(missing)*3 <= len(variables): // the others are meant to be there
		f.What = "the event maps the other variables of the error, but not shouldRetry"
		f.Effect = fmt.Sprintf("It stays true, from the analysis before, and so %s shows it.", quoted(person))
		f.Fix = outputs(same([]string{shouldRetry})...)
		l.add(event, text.Warning, ruleStale, f)
	case person != nil && slices.Contains(missing, "retryReason"):
		why := slices.DeleteFunc([]string{"retryReason", contract.OriginalError}, func(v string) bool { return !slices.Contains(missing, v) })
		f.What = "the event does not map " + enumerated(why)
		f.Effect = fmt.Sprintf("%s shows %s of the analysis before, or none, and not why the claim stopped.", quoted(person), enumerated(why))
		l.add(event, text.Warning, ruleErrorVariables, f)
	}
}

// before returns what the process holds in place of an error's variables.
func before(event *node) string {
	if event.host != nil && event.host.kind == "callActivity" {
		return "nothing, or the values of a round before"
	}
	return "the values of the analysis before, such as shouldRetry = true"
}

func isAre(list []string) string {
	if len(list) == 1 {
		return "is"
	}
	return "are"
}

func itThem(list []string) string {
	if len(list) == 1 {
		return "it"
	}
	return "them"
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

// reachesPerson returns the first task after an event that shows variables to a person or takes them to another system, nil for
// none.
func (l *linter) reachesPerson(event *node) (found *node) {
	walk(event.after(), func(n *node) bool {
		if l.tasks[n] != nil || l.analyses(n) || found != nil {
			return false
		}
		if n.kind == "userTask" || n.kind == "sendTask" {
			found = n
		}
		return found == nil
	})
	return found
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
	severity, effect := text.Error, "The analysis gets no error text: an incident (\"submissionError is missing\"), or from the second failure on the text of another failure."
	if a := l.tasks[task]; len(a.policies) > 0 && a.policies[0].AcceptEmptyError {
		severity, effect = text.Warning, "The analysis gets no error text, or that of another failure. The policy "+a.policies[0].Name+" takes a missing text as an unknown error."
	}
	l.add(event, severity, ruleSubmissionError, text.Finding{
		What:   fmt.Sprintf("the event catches the error that %s analyzes, but does not map submissionError", quoted(task)),
		Effect: effect,
		Fix:    outputs(same([]string{contract.SubmissionError, contract.LastSubmissionTime, contract.RetryAfter})...),
	})
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
