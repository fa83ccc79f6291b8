package e2e

import (
	"slices"
	"strings"
	"testing"
)

func TestRecordingChangesNoVariableOfTheProcess(t *testing.T) {
	s := onSharedBroker(t)
	claim := s.submits("CLM-E2E-14-2")
	claim.submission().complete(vars{"outcome": "what the hospital calls by that name"})
	claim.endsAt("EndEvent_ClaimSubmitted")
	claim.recorded("SUBMITTED")
	claim.variables().hold(t, vars{"outcome": "what the hospital calls by that name"})

	another := s.submits("CLM-E2E-14-3")
	another.submission().complete(nil)
	another.endsAt("EndEvent_ClaimSubmitted")
	another.variables().lack(t, "outcome")
}

func TestUnknownOutcomeIsAnIncidentUntilCorrected(t *testing.T) {
	s := onSharedBroker(t)
	for name, variables := range map[string]vars{
		"another word": {"claimId": "CLM-E2E-14-4", "outcome": "PAID"},
		"no text":      {"claimId": "CLM-E2E-14-4", "outcome": true},
		"none":         {"claimId": "CLM-E2E-14-4"},
	} {
		s.part(name, func(s *scene) {
			claim := s.start("OneOutcome", variables)
			incident := claim.incident()
			incident.saysWhy(s.T, "Task_RecordOutcome", "outcome", "SUBMITTED", "RESUBMITTED", "ABANDONED")
			claim.resolves(incident, vars{"outcome": "ABANDONED"})
			claim.endsAt("EndEvent_Recorded")
		})
	}
}

// shows fails the test where this is no line of the worker's metrics.
func (w *worker) shows(line string) {
	w.scene.Helper()
	ctx, cancel := w.scene.within(patience)
	defer cancel()
	if _, text := w.get(ctx, "/metrics"); !slices.Contains(strings.Split(text, "\n"), line) {
		w.scene.Errorf("the metrics lack the line %q:\n%s", line, text)
	}
}

// recorded fails the test where the outcomes that the worker got, and took without answering any variable, are
// others than these.
func (c *claim) recorded(want ...string) {
	c.Helper()
	var got []string
	for _, job := range c.events("JOB", "COMPLETED", func(e event) bool {
		return e.Type == recordOutcome && c.has(e.ProcessInstanceKey)
	}) {
		if got := c.answer(job); got != "{}" {
			c.Errorf("%s was completed with %s, want no variables", job.ElementID, got)
		}
		for _, v := range c.events("VARIABLE", "CREATED", func(e event) bool {
			return e.Name == "outcome" && e.ScopeKey == job.ElementInstanceKey
		}) {
			got = append(got, strings.Trim(v.VariableValue, `"`))
		}
	}
	if !slices.Equal(got, want) {
		c.Errorf("the worker got %q, want %q", got, want)
	}
}
