package modellint

import (
	"slices"

	"hospital.example/analyze-retry/internal/worker/contract"
)

// ways finds ways from an analysis on which the claim is not sent again as decided.
func (l *linter) ways(p *process, behind map[*node]*node) {
	for event, task := range l.failures(p) {
		l.countChanged([]*node{event}, task)
		l.countChanged(task.after(), task)
		if event.host != nil && leads(task.after(), event.host, l.waits) {
			l.add(task, "no-wait", quoted(event.host))
		}
	}
	for _, n := range p.nodes {
		if n.timer != nil && behind[n] != nil {
			l.timerLeads(n, behind[n])
		}
	}
}

// waits reports whether a claim waits at a node, or is analyzed there again.
func (l *linter) waits(n *node) bool {
	return n.timer != nil || n.message != "" || n.kind == "userTask" || l.tasks[n] != nil
}

// countChanged finds mappings of the count on the way of a retry, up to the next work or message.
func (l *linter) countChanged(from []*node, task *node) {
	walk(from, func(n *node) bool {
		if n.works() || n.message != "" {
			return false
		}
		if n.sets(contract.RetryCount) {
			m, _ := n.output(contract.RetryCount)
			l.add(n, "count-changed", m.value, quoted(task)).Line = m.line
		}
		return true
	})
}

// timerLeads finds a timer behind an analysis that does not lead to the submission.
func (l *linter) timerLeads(timer, task *node) {
	works := func(n *node) bool { return n != task && n.works() }
	switch {
	case leads(timer.after(), task, works):
		l.add(timer, "timer-to-analysis", quoted(task))
	case meets([]*node{timer}, (*node).finishes, (*node).works):
		l.add(timer, "timer-dead-end")
	}
}

// claimIDKept finds mappings that clear the id of the claim.
func (l *linter) claimIDKept(n *node) {
	for _, m := range slices.Concat(n.inputs, n.outputs) {
		if m.name == contract.ClaimID && isNull(m) {
			l.add(n, "claim-id-lost").Line = m.line
		}
	}
}

// afterAnalysis returns, for each node that follows an analysis over gateways and events up to a timer or a task, that analysis.
func (l *linter) afterAnalysis(p *process) map[*node]*node {
	found := map[*node]*node{}
	for _, task := range p.nodes {
		if l.tasks[task] == nil {
			continue
		}
		walk(task.after(), func(n *node) bool {
			if found[n] != nil {
				return false
			}
			found[n] = task
			return !n.isActivity() && n.timer == nil
		})
	}
	return found
}
