package modellint

import (
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// jobTypes finds job types that the worker does not work, but was meant to, and calls of a process that is most
// likely another one.
func (l *linter) jobTypes(n *node) {
	_, set := l.options.JobTypes[n.jobType]
	_, computed := expression(n.jobType)
	switch written := l.meant[n]; {
	case written != "" && n.isJob:
		l.add(n, "job-type-misspelt", written, n.jobType)
		return
	case written != "":
		l.add(n, "process-misspelt", written, n.calls)
		return
	case l.tasks[n] == nil || computed || set:
		return
	}
	f := l.add(n, "job-type-without-policy", n.jobType, strings.Join(l.jobTypesDecided(), ", "))
	if maps.Equal(l.options.JobTypes, standardTypes) {
		f.Severity = text.Information // the settings are most likely not those of the worker
	}
}

// headers finds faults of a task's headers, and those that change nothing.
func (l *linter) headers(n *node) {
	if isOutcome(n) {
		l.outcomePolicy(n)
	}
	a := l.tasks[n]
	if a == nil {
		return
	}
	for _, f := range a.faults {
		l.refused(n, f)
	}
	for _, h := range n.headers {
		refused := slices.ContainsFunc(a.faults, func(f input.Fault) bool { return f.Name == h.name })
		if ours := text.Nearest(h.name, contract.Headers()); ours != "" && ours != h.name && !refused {
			l.add(n, "header-not-read", h.name, ours, h.value).Line = h.line
		}
	}
}

// outcomePolicy finds a policy of accepted claims that the worker does not know.
func (l *linter) outcomePolicy(n *node) {
	for _, h := range n.headers {
		_, isType := l.options.JobTypes[h.value]
		if _, known := l.options.Policies.Get(h.value); h.name == contract.HeaderPolicy && !known && !isType {
			known := append(l.options.Policies.Names(), l.jobTypesDecided()...)
			l.add(n, "outcome-policy", h.name, h.value, strings.Join(known, ", ")).Line = h.line
		}
	}
}

// refused adds a header that the worker refuses.
func (l *linter) refused(n *node, f input.Fault) {
	h, _ := named(n.headers, f.Name)
	mistake := "header-refused"
	if f.Name == contract.HeaderPolicy {
		mistake = "policy-unknown"
	}
	l.add(n, mistake, f.Name, f.Value, f.Rule).Line = h.line
}

// countHidden finds mappings that keep results of an analysis from the process.
func (l *linter) countHidden(n *node) {
	a := l.tasks[n]
	if a == nil {
		return
	}
	l.addNaming(n, "results-hidden", a.results, func(v string) bool {
		_, lost := n.input(v)
		if len(n.outputs) > 0 {
			m, is := n.output(v)
			feel, _ := expression(m.value)
			lost = !is || !reads(feel, v)
		}
		return lost && (v == contract.RetryCount || readElsewhere(n, v))
	})
}

// readElsewhere reports whether another node of the process reads a variable. An error event reads those of the error.
func readElsewhere(n *node, variable string) bool {
	return slices.ContainsFunc(n.process.nodes, func(other *node) bool {
		return other != n && other.variables[variable] && !other.catchesErrors
	})
}
