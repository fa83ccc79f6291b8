package modellint

import (
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// outcomeValue finds a record without an outcome, and one of an outcome that the worker does not know.
func (l *linter) outcomeValue(n *node) {
	m, is := n.entry("input", contract.Outcome)
	known := strings.Join(input.Outcomes(), ", ")
	switch value := constant(m); {
	case !n.records:
	case !is && !n.process.writes(contract.Outcome):
		l.add(n, "outcome-missing", known)
	case value != "" && !slices.Contains(input.Outcomes(), value):
		l.add(n, "outcome-unknown", value, known).Line = m.line
	}
}

// constant returns the text that a mapping always writes, empty if there is none.
func constant(m entry) string {
	feel, computed := expression(m.value)
	if !computed {
		return m.value
	}
	if found := texts(feel); len(found) == 1 && feel == `"`+found[0]+`"` {
		return found[0]
	}
	return ""
}

// outcomes finds ways to an end, or to the next round, without a record of it.
func (l *linter) outcomes(p *process, caught []*node, failures []failure) {
	submission := func(n *node) bool {
		return slices.ContainsFunc(failures, func(f failure) bool { return f.submission == n })
	}
	again := func(n *node) bool { return submission(n) || n.loops }
	for _, event := range caught {
		l.unrecorded(event, "ABANDONED", again)
		l.recordedAsAccepted(event)
	}
	for _, n := range p.nodes {
		if submission(n) || n.loops && !n.recorded {
			l.unrecorded(n, "SUBMITTED", again)
		}
	}
}

// unrecorded finds ends that a node leads to without a record, and a claim that is sent again after an error of the
// worker without a record of the person's decision. A branch that runs alongside another one, such as a reminder,
// need not record. An end to which two ways lead is found once.
func (l *linter) unrecorded(from *node, outcome string, again func(*node) bool) {
	stops := func(n *node) bool {
		alongside := n.kind == "parallelGateway" || n.host != nil && n.Attr("cancelActivity") == "false"
		return again(n) || n.recorded || n.analyzes || alongside
	}
	for _, n := range reached(from.after(), stops) {
		switch {
		case again(n) && from.catchesErrors:
			l.add(from, "round-not-recorded", quoted(n))
		case !stops(n) && n.finishes() && l.once(n.process.file, n.id, "not recorded"):
			l.add(n, "end-not-recorded", outcome)
		}
	}
}

// recordedAsAccepted finds a claim that is given up but recorded as accepted: no job is between, and nothing records
// that it was abandoned.
func (l *linter) recordedAsAccepted(event *node) {
	jobs := func(n *node) bool { return n.records || n.kind == "serviceTask" || n.kind == "callActivity" }
	var accepted *node
	for _, n := range reached(event.after(), jobs) {
		m, _ := n.entry("input", contract.Outcome)
		switch outcome := constant(m); {
		case !n.records:
		case outcome == "SUBMITTED":
			accepted = n
		case outcome == "ABANDONED" || outcome == "":
			return
		}
	}
	if accepted != nil {
		l.add(accepted, "outcome-accepted")
	}
}
