package modellint

import (
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// staleFailure finds variables of a failure that are still there at the next one. An error event that maps =submissionError
// takes the process's variable where the error brought none.
func (l *linter) staleFailure(event *node) {
	var stale []string
	var at *node
	for _, v := range []string{contract.SubmissionError, contract.LastSubmissionTime, contract.RetryAfter} {
		m, is := event.output(v)
		if feel, _ := expression(m.source); !is || !reads(feel, v) {
			continue
		}
		way := l.wayBack(event, v)
		if way == nil {
			continue
		}
		stale = append(stale, v)
		if at == nil {
			at = way[max(0, slices.IndexFunc(way, func(n *node) bool { return strings.HasPrefix(n.kind, "intermediate") }))]
		}
	}
	if at != nil {
		l.add(at, "stale-failure", enumerated(stale), quoted(event.host))
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
	if way != nil {
		l.add(submission, "count-kept")
	}
}

// staleDecisions finds user tasks that are answered by the decision of before.
func (l *linter) staleDecisions(p *process) {
	const decision = "manualDecision"
	for _, task := range p.nodes {
		if task.kind != "userTask" || !readElsewhere(task, decision) {
			continue
		}
		if _, own := task.input(decision); own {
			continue
		}
		way := path(task.after(), task, func(n *node) bool { return n.sets(decision) })
		if way != nil {
			l.add(task, "decision-kept")
		}
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
	l.add(n, "outcome-unknown", value, enumerated(input.Outcomes())).Line = m.line
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
			l.add(event, "round-not-recorded", quoted(n))
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
			l.add(n, "end-not-recorded")
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

// loops finds retries that this worker does not decide: an error leads back to the activity that failed, and neither a person
// nor an analysis is on the way. Where nothing else of the worker is in a process, only the submission of a claim is looked at.
func (l *linter) loops(p *process, concerned bool) {
	for _, event := range p.nodes {
		host := event.host
		if host == nil || !event.catchesErrors || l.tasks[host] != nil || l.analyses(host) || !concerned && host.jobType != "submit-claim" {
			continue
		}
		stops := func(n *node) bool {
			return n == event || n.kind == "userTask" || n.kind == "receiveTask" || l.tasks[n] != nil || l.analyses(n) || n != host && n.isJob && l.mistyped(n.jobType) != ""
		}
		if path(event.after(), host, stops) != nil {
			l.add(event, "no-analysis", quoted(host))
		}
	}
}
