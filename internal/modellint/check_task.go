package modellint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// jobTypes finds job types that the worker does not work, but was meant to.
func (l *linter) jobTypes(n *node) {
	if !n.isJob || isOutcome(n) {
		return
	}
	a := l.tasks[n]
	if a == nil {
		if ours := l.mistyped(n.jobType); ours != "" {
			l.add(n, "job-type-mistyped", n.jobType, ours)
		}
		return
	}
	for _, t := range a.types {
		if _, known := l.options.JobTypes[t]; known {
			continue
		}
		if _, is := expression(n.jobType); is {
			t += "..."
		}
		f := l.add(n, "job-type-without-policy", t, enumerated(l.jobTypesDecided()))
		if maps.Equal(l.options.JobTypes, standardTypes) {
			f.Severity = text.Information // the settings are most likely not those of the worker
		}
	}
}

// onlyOfAnalysis are the headers that mean nothing on another task.
var onlyOfAnalysis = []string{contract.HeaderPolicy, contract.HeaderOnExhausted, contract.HeaderOnPermanent}

// headers finds faults of task headers, and those that change nothing.
func (l *linter) headers(n *node) {
	a := l.tasks[n]
	if a != nil {
		for _, f := range a.faults {
			l.refused(n, f)
		}
	}
	for _, h := range n.headers {
		if a == nil {
			if slices.Contains(onlyOfAnalysis, h.key) {
				l.add(n, "header-elsewhere", h.key).Line = h.line
			}
			continue
		}
		refused := slices.ContainsFunc(a.faults, func(f input.Fault) bool { return f.Name == h.key })
		ours := text.Nearest(h.key, contract.Headers())
		if ours != "" && ours != h.key && !refused {
			l.add(n, "header-not-read", h.key, ours, h.value).Line = h.line
		}
	}
}

// refused adds a header that the worker refuses.
func (l *linter) refused(n *node, f input.Fault) {
	h := header{}
	if at := slices.IndexFunc(n.headers, func(h header) bool { return h.key == f.Name }); at >= 0 {
		h = n.headers[at]
	}
	if f.Name != contract.HeaderPolicy {
		l.add(n, "header-refused", f.Name, f.Value.String(), f.Rule.String()).Line = h.line
		return
	}
	meant := text.Nearest(h.value, l.options.Policies.Names())
	if meant != "" {
		meant = fmt.Sprintf("; did you mean %s?", meant)
	}
	l.add(n, "policy-unknown", f.Name, f.Value.String(), f.Rule.String(), meant).Line = h.line
}

// retries finds worker's tasks whose jobs have no retries.
func (l *linter) retries(n *node) {
	if l.tasks[n] == nil && !isOutcome(n) {
		return
	}
	if count, err := strconv.Atoi(n.retries); err == nil && count <= 0 {
		l.add(n, "no-retries", n.retries, n.jobType)
	}
}

// countHidden finds mappings that keep results of an analysis from the process.
func (l *linter) countHidden(n *node) {
	a := l.tasks[n]
	if a == nil && !l.analyses(n) {
		return
	}
	// A called process with the loop in it ends with success: then only what the caller has asked for is needed.
	whole := a == nil && l.retriesInside(n)
	var hidden []string
	for _, v := range results(a) {
		_, lost := n.input(v)
		if whole {
			lost = lost && len(n.outputs) == 0
		} else if len(n.outputs) > 0 || a == nil && !n.propagatesAll {
			m, is := n.output(v)
			feel, _ := expression(m.source)
			lost = !is || !reads(feel, v)
		}
		if lost && (whole || v == contract.RetryCount || readElsewhere(n, v)) {
			hidden = append(hidden, v)
		}
	}
	if len(hidden) > 0 {
		f := l.add(n, "results-hidden", enumerated(hidden))
		if whole {
			f.Severity = text.Warning
		}
	}
}

// readElsewhere reports whether another node of the process reads a variable. An error event reads those of the error.
func readElsewhere(n *node, variable string) bool {
	return slices.ContainsFunc(n.process.nodes, func(other *node) bool {
		return other != n && other.variables[variable] && !other.catchesErrors
	})
}

// retriesInside reports whether the process that a call activity calls has the loop in it: what follows an analysis there
// can lead to it again.
func (l *linter) retriesInside(call *node) bool {
	return l.inCalled(call, func(n *node) bool {
		return l.tasks[n] != nil && path(n.after(), n, func(*node) bool { return false }) != nil
	})
}
