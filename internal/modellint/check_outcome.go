package modellint

import (
	"slices"
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// outcomeValue finds a record without an outcome, and one of an outcome that the worker does not know.
func (l *linter) outcomeValue(n *node) {
	m, is := n.entry("input", contract.Outcome)
	known := strings.Join(input.Outcomes(), ", ")
	other := func(o *node) bool {
		_, writes := o.entry("output", contract.Outcome)
		return writes && o != n
	}
	switch value := constant(m); {
	case !is && !slices.ContainsFunc(n.process.nodes, other):
		l.add(n, "outcome-missing", known)
	case value != "" && !slices.Contains(input.Outcomes(), value):
		l.add(n, "outcome-unknown", value, known).Line = m.line
	}
}

// outcomePolicy finds a policy of accepted claims that the worker does not know.
func (l *linter) outcomePolicy(n *node) {
	known := append(l.policies.Names(), l.jobTypes...)
	if h, is := n.entry("header", contract.HeaderPolicy); is && !slices.Contains(known, h.value) {
		l.add(n, "outcome-policy", h.name, h.value, strings.Join(known, ", ")).Line = h.line
	}
}

// constant returns the text that a mapping always writes, empty if there is none.
func constant(m entry) string {
	feel, computed := expression(m.value)
	if !computed {
		return m.value
	}
	if slices.Contains(input.Outcomes(), feel) {
		return m.value // without quotes it is a variable
	}
	value, _ := strconv.Unquote(feel)
	return value
}

// unrecorded finds ends that a submission leads to, or an error of the worker's, without a record of how the
// round ended, and a claim that is sent again after such an error without a record of the person's decision.
// A branch that runs alongside another one, such as a reminder, need not record. An end to which two ways
// lead is found once.
func (l *linter) unrecorded(from *node, outcome string) {
	stops := func(n *node) bool {
		return n.again() || n.recorded || n.analyzes || n.kind == "parallelGateway" || n.alongside()
	}
	for _, n := range reached(from.after(), stops) {
		switch {
		case n.again() && from.catchesOurs:
			l.add(from, "round-not-recorded", quoted(n))
		case !stops(n) && n.finishes() && l.once(n.process.file, n.id, "not recorded"):
			l.add(n, "end-not-recorded", outcome)
		}
	}
}

// ended reports whether a node always records that the claim is not sent again.
func (n *node) ended() bool { return n.outcome() == "ABANDONED" || n.outcome() == "SUBMITTED" }

// outcome returns what a node always records, empty if there is no such.
func (n *node) outcome() string {
	m, _ := n.entry("input", contract.Outcome)
	if !n.records {
		return ""
	}
	return constant(m)
}

// recordedAsAccepted finds records of a claim that is given up as accepted: no job is between that asked the
// insurer, and no person who can also abandon the claim.
func (l *linter) recordedAsAccepted(event *node) {
	jobs := func(n *node) bool {
		return n.again() || n.records || n.kind == "serviceTask" || n.kind == "callActivity"
	}
	behind := reached(event.after(), jobs)
	alone := reached(event.after(), func(n *node) bool { return jobs(n) || n.kind == "userTask" })
	abandoned := slices.ContainsFunc(behind, func(n *node) bool { return n.canRecord("ABANDONED") })
	for _, n := range behind {
		if n.outcome() == "SUBMITTED" && (!abandoned || slices.Contains(alone, n)) {
			l.add(n, "outcome-accepted")
		}
	}
}

// recordedAsAbandoned finds records of an accepted claim as given up: nothing between could decide that.
func (l *linter) recordedAsAbandoned(submission *node) {
	decides := func(n *node) bool { return n.works() || len(n.to) > 1 || n.kind == "intermediateCatchEvent" }
	for _, n := range reached(submission.after(), decides) {
		if n.outcome() == "ABANDONED" && submission.submits() && submission.isActivity() {
			l.add(n, "outcome-abandoned")
		}
	}
}

// canRecord reports whether a node can record an outcome: an expression can be one of its texts, and one
// without texts can be each.
func (n *node) canRecord(outcome string) bool {
	m, _ := n.entry("input", contract.Outcome)
	open := constant(m) == "" && len(texts(m.value)) == 0
	return n.records && (open || strings.Contains(m.value, outcome))
}
