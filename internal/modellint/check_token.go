package modellint

import (
	"slices"

	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// alongside reports whether an event begins a way while what it belongs to goes on.
func (n *node) alongside() bool {
	return n.Attr("cancelActivity") == "false" || n.Attr("isInterrupting") == "false"
}

// splits reports whether more than one way can go on from a node at once.
func (n *node) splits() bool {
	chooses := n.kind == "exclusiveGateway" || n.kind == "eventBasedGateway"
	return n.alongside() || len(n.to) > 1 && !chooses
}

// workedTwice finds ways that go on at once and both get to the same work on a claim, or to any while a
// person's task, or what else an event is attached to, is still open. An inclusive gateway may choose one,
// several ends of a sub-process lead on once, and what sets claimId brings another claim.
func (l *linter) workedTwice(n *node) {
	stops := func(n *node) bool {
		return n.sets(contract.ClaimID) || len(n.to) == 0 ||
			n.splits() || n.kind == "parallelGateway" || n.kind == "inclusiveGateway"
	}
	if !n.splits() || n.kind == "inclusiveGateway" || n.sets(contract.ClaimID) {
		return
	}
	got := map[*node]bool{}
	for _, way := range n.to {
		for _, at := range reached([]*node{way}, stops) {
			if (at.again() || at.records) && (n.alongside() || got[at]) {
				l.add(n, "worked-twice", quoted(at))
				return // of several the first
			}
			got[at] = true
		}
	}
}

// choice finds a flow of an exclusive gateway that has neither a condition nor is its default, or is both.
func (l *linter) choice(n *node) {
	refused := slices.IndexFunc(n.flows, func(f entry) bool {
		return (f.kind != "") == (f.name != "" && f.name == n.Attr("default"))
	})
	if n.kind == "exclusiveGateway" && len(n.flows) > 1 && refused >= 0 {
		l.add(n, "condition-missing", quoted(n.flows[refused].to))
	}
}

// incoming finds gateways that wait for ways of which a process goes one, and analyses to which none leads.
func (l *linter) incoming(p *process) {
	var ways []*node
	into, begun := map[*node]int{}, map[*node]bool{}
	for _, n := range p.nodes {
		begun[n.parent] = begun[n.parent] || n.kind == "startEvent"
		if n.splits() || len(n.Named("linkEventDefinition")) > 0 {
			ways = append(ways, n.next()...)
		}
		for _, to := range n.to {
			into[to]++
		}
	}
	behind := reached(ways, func(*node) bool { return false })
	for _, n := range p.nodes {
		if n.kind == "parallelGateway" && into[n] > 1 && !slices.Contains(behind, n) {
			l.add(n, "join-waits")
		}
		if n.analyzes && into[n] == 0 && begun[n.parent] && n.Attr("isForCompensation") != "true" {
			f := l.add(n, "analysis-skipped")
			other := func(other *node) bool { return other.analyzes && into[other] > 0 }
			if slices.ContainsFunc(p.nodes, other) {
				f.Severity = text.Warning // it may be parked there
			}
		}
	}
}
