package modellint

import (
	"fmt"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/input"
)

// staleFailure finds variables of a failure that are still there at the next one. An error event that maps =submissionError
// takes the process's variable where the error brought none.
func (l *linter) staleFailure(event *node) {
	stale := map[*node][]string{}
	var places []*node
	for _, v := range []string{contract.SubmissionError, contract.LastSubmissionTime, contract.RetryAfter} {
		m, is := event.output(v)
		if feel, _ := expression(m.source); !is || !reads(feel, v) {
			continue
		}
		way := l.wayBack(event, v)
		if way == nil {
			continue
		}
		at := way[0]
		for _, n := range way {
			if n.kind == "intermediateCatchEvent" || n.kind == "intermediateThrowEvent" {
				at = n
				break
			}
		}
		if stale[at] == nil {
			places = append(places, at)
		}
		stale[at] = append(stale[at], v)
	}
	for _, at := range places {
		list := stale[at]
		f := text.Finding{
			What:   fmt.Sprintf("%s of one failure %s not cleared before %s runs again", enumerated(list), isAre(list), quoted(event.host)),
			Effect: "A failure that brings no value of its own is decided by the one of the failure before.",
			Advice: "Clear it at an event between the analysis and the next try, such as the timer:",
			Fix:    outputs(cleared(list)...),
		}
		l.add(at, text.Warning, ruleStale, f)
	}
}

// wayBack returns a way from an analysis to the submission whose error an event catches, on which nothing clears a variable.
func (l *linter) wayBack(event *node, variable string) []*node {
	var from []*node
	for _, n := range event.process.nodes {
		if l.tasks[n] != nil {
			from = append(from, n.next()...)
		}
	}
	return path(from, event.host, func(n *node) bool { return n.sets(variable) || l.tasks[n] != nil })
}

// countKept finds a person's resubmission that begins with the count of the round before.
func (l *linter) countKept(submission *node) {
	var from []*node
	for _, n := range submission.process.nodes {
		if l.tasks[n] == nil {
			continue
		}
		for _, code := range codes {
			for _, event := range catchers(n, code) {
				from = append(from, event.after()...)
			}
		}
	}
	way := path(from, submission, func(n *node) bool {
		_, written := n.output(contract.RetryCount)
		return written || l.tasks[n] != nil
	})
	if way == nil {
		return
	}
	at := way[0]
	for _, n := range way[:len(way)-1] {
		if !strings.HasSuffix(n.kind, "Gateway") { // which has no mappings
			at = n
		}
	}
	l.add(at, text.Error, ruleStale, text.Finding{
		What:   "after an error of the worker the claim is sent again with the retryCount of the round before",
		Effect: "The count is used up: the first failure of the new round throws MAX_RETRIES_EXCEEDED at once.",
		Advice: "Set the count to 0 here, or at an event before the submission:",
		Fix:    outputs(mapping{source: "=0", target: contract.RetryCount}),
	})
}

// staleDecisions finds user tasks that are answered by the decision of before.
func (l *linter) staleDecisions(p *process) {
	const decision = "manualDecision"
	for _, task := range p.nodes {
		if task.kind != "userTask" || !l.readElsewhere(task, decision) {
			continue
		}
		if _, own := task.input(decision); own {
			continue
		}
		way := path(task.after(), task, func(n *node) bool { return n.sets(decision) })
		if way == nil {
			continue
		}
		l.add(task, text.Warning, ruleStale, text.Finding{
			What:   "manualDecision is not cleared before the task is created again",
			Effect: "If the person completes it without a decision, the one of before counts again: a claim is sent, or given up, by accident.",
			Advice: "Clear it at an event before the task:",
			Fix:    outputs(cleared([]string{decision, contract.Justification, contract.DecidedBy})...),
		})
	}
}

// outcomeValue finds an outcome that the worker does not know.
func (l *linter) outcomeValue(n *node) {
	m, is := n.input(contract.Outcome)
	if !is || !isOutcome(n) {
		return
	}
	value := strings.TrimSpace(m.source)
	if feel, is := expression(value); is {
		if value, is = strings.CutPrefix(strings.TrimSpace(feel), `"`); !is || strings.Count(value, `"`) != 1 || !strings.HasSuffix(value, `"`) {
			return // it is computed
		}
		value = strings.TrimSuffix(value, `"`)
	}
	if slices.Contains(input.Outcomes(), value) {
		return
	}
	l.add(n, text.Error, ruleOutcome, text.Finding{
		Line:   m.line,
		What:   fmt.Sprintf("the outcome is %q, but must be one of %s", value, enumerated(input.Outcomes())),
		Effect: "Every job of this task is an incident that names the outcome.",
	})
}

// outcomes finds ways to an end, or to the next round, without a record.
func (l *linter) outcomes(p *process) {
	recorded := func(n *node) bool { return isOutcome(n) || l.records(n) }
	hosts := map[*node]bool{}
	for event := range l.failures(p) {
		if event.host != nil {
			hosts[event.host] = true
		}
	}
	found := map[*node]bool{}
	for _, n := range p.nodes {
		switch {
		case l.tasks[n] != nil, l.analyses(n):
			for _, code := range codes {
				if l.throws(n, code) {
					for _, event := range catchers(n, code) {
						l.unrecorded(event, recorded, hosts, found)
					}
				}
			}
			if l.analyses(n) && !l.records(n) && l.retriesInside(n) {
				l.unrecordedEnds(n.after(), recorded, found)
			}
		case hosts[n]:
			l.unrecordedEnds(n.after(), recorded, found)
		}
	}
}

// unrecorded checks what follows an error of the worker.
func (l *linter) unrecorded(event *node, recorded func(*node) bool, hosts, found map[*node]bool) {
	if recorded(event) {
		return
	}
	l.unrecordedEnds(event.after(), recorded, found)
	walk(event.after(), func(n *node) bool {
		if isOutcome(n) {
			return false
		}
		again := hosts[n] || l.analyses(n)
		if again && !found[event] {
			found[event] = true
			l.add(event, text.Warning, ruleOutcome, text.Finding{
				What:   fmt.Sprintf("from here the claim is sent again by %s, without a record of the person's decision", quoted(n)),
				Effect: "Both rounds count as one, and the audit trail does not know who decided, and why.",
				Advice: "Put this task before the next submission:",
				Fix:    recorder("RESUBMITTED"),
			})
		}
		return !again && l.tasks[n] == nil
	})
}

// unrecordedEnds finds ends that some nodes lead to without a record. A branch that runs alongside the one that records, such as a
// reminder, need not.
func (l *linter) unrecordedEnds(from []*node, recorded func(*node) bool, found map[*node]bool) {
	alongside := map[*node]bool{}
	walk(from, func(n *node) bool {
		if recorded(n) || l.tasks[n] != nil || alongside[n] {
			return false
		}
		for _, b := range n.boundary {
			alongside[b] = !b.interrupting
		}
		if n.kind == "parallelGateway" {
			for _, branch := range unrecordedBranches(n, recorded) {
				alongside[branch] = true
			}
		}
		if n.finishes() && !found[n] {
			found[n] = true
			l.add(n, text.Warning, ruleOutcome, text.Finding{
				What:   "a claim can get to this end without a record-retry-outcome task before it",
				Effect: "The audit trail does not know how the claim ended: `worker claims` shows it as open, and the success rate does not count it.",
				Advice: "Put this task before the end, with the outcome that it means: SUBMITTED or ABANDONED.",
				Fix:    recorder("ABANDONED"),
			})
		}
		return true
	})
}

// unrecordedBranches returns where the branches of a fork begin that lead to no record, if another one leads to one.
func unrecordedBranches(fork *node, recorded func(*node) bool) (none []*node) {
	for _, f := range fork.flows {
		records := false
		walk([]*node{f.to}, func(n *node) bool {
			records = records || recorded(n)
			return !records
		})
		if !records {
			none = append(none, f.to)
		}
	}
	if len(none) == len(fork.flows) {
		return nil
	}
	return none
}

func recorder(outcome string) string {
	return "<bpmn:serviceTask id=\"Task_RecordOutcome\" name=\"Registrar desfecho\">\n  <bpmn:extensionElements>\n" +
		"    <zeebe:taskDefinition type=\"" + contract.OutcomeJobType + "\" retries=\"3\" />\n" +
		indented(ioMapping("input", []mapping{
			{source: `="` + outcome + `"`, target: contract.Outcome},
			{source: "=" + contract.Justification, target: contract.Justification},
			{source: "=" + contract.DecidedBy, target: contract.DecidedBy},
		}), "    ") + "\n  </bpmn:extensionElements>\n</bpmn:serviceTask>"
}

// loops finds retries that this worker does not decide: an error leads back to the activity that failed, and neither a person
// nor an analysis is on the way.
func (l *linter) loops(p *process) {
	for _, event := range p.nodes {
		host := event.host
		if host == nil || !event.catchesErrors || l.tasks[host] != nil || l.analyses(host) {
			continue
		}
		stops := func(n *node) bool {
			return n == event || n.kind == "userTask" || n.kind == "receiveTask" || l.tasks[n] != nil || l.analyses(n) || n != host && n.isJob && l.mistyped(n.jobType) != ""
		}
		way := path(event.after(), host, stops)
		if way == nil {
			continue
		}
		severity := text.Information
		if host.jobType == "submit-claim" || slices.ContainsFunc(way, usesResults) || l.concerned(p) {
			severity = text.Warning
		}
		l.add(event, severity, ruleLoop, text.Finding{
			What:   fmt.Sprintf("from here %s is tried again without an analysis", quoted(host)),
			Effect: "Nothing decides whether a retry helps, and the tries are neither bounded nor recorded by this worker. A permanent error is sent again and again.",
			Advice: "Put this task between the error and the wait, or call SubmissionRetryProcess. For faults of seconds fail the job with a retry back-off instead.",
			Fix: "<bpmn:serviceTask id=\"Task_AnalyzeRetry\" name=\"Analisar retentativa\">\n  <bpmn:extensionElements>\n" +
				"    <zeebe:taskDefinition type=\"" + contract.JobType + "\" retries=\"3\" />\n  </bpmn:extensionElements>\n</bpmn:serviceTask>",
		})
	}
}

// usesResults reports whether a node reads a variable of an analysis.
func usesResults(n *node) bool {
	return slices.ContainsFunc(allResults, func(v string) bool { return n.variables[v] })
}
