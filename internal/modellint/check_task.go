package modellint

import (
	"encoding/json"
	"slices"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// headers finds faults of a task's headers, and those that change nothing. The worker itself reads a decision
// job that has nothing wrong but its headers, so that both find the same. Of a record it refuses none.
func (l *linter) headers(n *node) {
	keys := map[string]string{}
	for _, h := range n.all("header") {
		keys[h.name] = h.value
	}
	known := []string{contract.HeaderPolicy, contract.HeaderByPerson}
	s, _ := json.Marshal(keys) // texts
	sound := &job.Job{Headers: string(s), Variables: `{"claimId":"CLM-LINT-1","submissionError":"x"}`}
	var refused input.Faults
	if n.analyzes {
		known, refused = contract.Headers(), input.ReadDecision(sound, l.policies, "tiss").Invalid
	}
	for _, f := range refused {
		delete(keys, f.Name)
		mistake := "header-refused"
		if f.Name == contract.HeaderPolicy {
			mistake = "policy-unknown"
		}
		h, _ := n.entry("header", f.Name)
		l.add(n, mistake, f.Name, f.Value, f.Rule).Line = h.line
	}
	for _, h := range n.all("header") {
		_, taken := keys[h.name]
		if ours := text.Nearest(h.name, known); taken && ours != "" && ours != h.name {
			l.add(n, "header-not-read", h.name, ours, h.value).Line = h.line
		}
	}
}

// resultsHidden finds mappings that keep results from the process: the count, or what another node reads.
func (l *linter) resultsHidden(n *node) {
	l.addNaming(n, "results-hidden", results, func(v string) bool {
		_, lost := n.entry("input", v)
		if len(n.all("output")) > 0 {
			m, is := n.entry("output", v)
			lost = !is || !slices.Contains(m.reads(), v)
		}
		readBy := func(other *node) bool {
			return other != n && other.variables[v] && !other.catchesErrors // which reads those of the error
		}
		return lost && (v == contract.RetryCount || slices.ContainsFunc(n.process.nodes, readBy))
	})
}

// claimIDKept finds mappings that clear the id of the claim.
func (l *linter) claimIDKept(n *node) {
	for _, m := range n.entries {
		if m.name == contract.ClaimID && isNull(m) {
			l.add(n, "claim-id-lost").Line = m.line
		}
	}
}

// errorsCaught finds errors of the worker that no event catches. A process may leave them to one that calls
// it, of which the call is looked at, and says so by an end event of its own.
func (l *linter) errorsCaught(n *node) {
	if l.called[n.process.id] {
		return
	}
	l.addNaming(n, "error-not-caught", codes, func(code string) bool {
		left := func(n *node) bool { return n.ends(code) && catcher(n, code) == nil }
		return n.throws(code) && catcher(n, code) == nil && !slices.ContainsFunc(n.process.nodes, left)
	})
}

// errorVariables finds what an event that catches an error of the worker does not pass on: variables that are
// read after it, before the next analysis, must be mapped, and for a person the reason.
func (l *linter) errorVariables(event *node) {
	l.addNaming(event, "error-variables", results, func(v string) bool {
		again := func(n *node) bool { return n.analyzes || n.loops }
		behind := reached(event.after(), func(n *node) bool {
			_, written := n.entry("output", v)
			return written || again(n)
		})
		_, mapped := event.entry("output", v)
		return !mapped && slices.ContainsFunc(behind, func(n *node) bool {
			person := n.kind == "userTask" || n.kind == "sendTask"
			shown := v == "retryReason" && person && !event.variables[v] // which may map it to another name
			return !again(n) && (shown || n.variables[v])
		})
	})
}
