package modellint

import (
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// outcomeValue finds an outcome that the worker does not know.
func (l *linter) outcomeValue(n *node) {
	m, is := n.input(contract.Outcome)
	if !isOutcome(n) {
		return
	}
	if !is && !n.process.writes(contract.Outcome) {
		l.add(n, "outcome-missing", strings.Join(input.Outcomes(), ", "))
	}
	feel, computed := expression(m.value)
	values := outcomeValues(m)
	if !is || computed && (len(values) != 1 || strings.TrimSpace(feel) != `"`+values[0]+`"`) {
		return
	}
	if !slices.Contains(input.Outcomes(), values[0]) {
		l.add(n, "outcome-unknown", values[0], strings.Join(input.Outcomes(), ", ")).Line = m.line
	}
}

// outcomeValues returns the texts that a mapping can make the outcome; none if it is another variable.
func outcomeValues(m entry) []string {
	if feel, computed := expression(m.value); computed {
		return texts(feel)
	}
	return []string{m.value}
}

// outcomes finds ways to an end, or to the next round, without a record of it.
func (l *linter) outcomes(p *process) {
	submissions := map[*node]bool{}
	for event := range l.failures(p) {
		submissions[event.host] = true
	}
	for _, n := range p.nodes {
		for _, event := range l.caught(n) {
			l.unrecordedEnds(event.after(), "ABANDONED")
			l.unrecordedRound(event, submissions)
			l.recordedAsAccepted(event)
		}
		if submissions[n] || l.analyses(n) && !l.records(n) {
			l.unrecordedEnds(n.after(), "SUBMITTED")
		}
	}
}

// recorded reports whether a node records an outcome.
func (l *linter) recorded(n *node) bool { return isOutcome(n) || l.records(n) }

// unrecordedEnds finds ends that some nodes lead to without a record. A branch that runs alongside another one, such as a
// reminder, need not record.
func (l *linter) unrecordedEnds(from []*node, outcome string) {
	walk(from, func(n *node) bool {
		alongside := n.host != nil && !n.interrupting || n.kind == "parallelGateway"
		if l.recorded(n) || l.tasks[n] != nil || alongside {
			return false
		}
		if n.finishes() && !l.ends[n] {
			l.ends[n] = true
			l.add(n, "end-not-recorded", outcome)
		}
		return true
	})
}

// unrecordedRound finds a claim that is sent again after an error of the worker without a record of the person's decision.
func (l *linter) unrecordedRound(event *node, submissions map[*node]bool) {
	walk(event.after(), func(n *node) bool {
		again := submissions[n] || l.analyses(n)
		if again {
			l.add(event, "round-not-recorded", quoted(n))
		}
		return !again && !isOutcome(n) && l.tasks[n] == nil
	})
}

// recordedAsAccepted finds a claim that is given up but recorded as accepted: no job is between, and nothing records
// that it was abandoned.
func (l *linter) recordedAsAccepted(event *node) {
	var accepted *node
	abandoned := false
	walk(event.after(), func(n *node) bool {
		m, _ := n.input(contract.Outcome)
		values := outcomeValues(m)
		switch {
		case !isOutcome(n):
			return n.kind != "serviceTask" && n.kind != "callActivity"
		case slices.Equal(values, []string{"SUBMITTED"}):
			accepted = n
		case len(values) == 0 || slices.Contains(values, "ABANDONED"):
			abandoned = true
		}
		return false
	})
	if accepted != nil && !abandoned {
		l.add(accepted, "outcome-accepted")
	}
}

// caught returns the events that catch errors of the worker's which a node throws.
func (l *linter) caught(n *node) (events []*node) {
	for _, code := range codes {
		if l.throws(n, code) && !n.throwsError {
			events = append(events, catchers(n, code)...)
		}
	}
	return slices.Compact(events)
}
