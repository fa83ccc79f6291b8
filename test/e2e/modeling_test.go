//go:build models

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The process that docs/modeling.md wires step by step, as tools/models/steps.mjs does it with mouse and keyboard.
func TestProcessWiredByThePageRuns(t *testing.T) {
	folder := t.TempDir()
	drawn := modeler(t, "steps.mjs", folder)
	s := withWorker(t)
	drawn()
	for _, form := range []string{"review-claim", "correct-data"} {
		s.must(s.broker.Deploy(t.Context(), "../../bpmn/"+form+".form"))
	}
	for process, tasks := range map[string][2]string{
		"ClaimsProcess":    {"Review claim", "Correct data"},
		"ProcessoDeContas": {"Revisar conta", "Corrigir dados"},
	} {
		file := filepath.Join(folder, process+".bpmn")
		s.must(s.broker.Deploy(t.Context(), file))
		model, err := os.ReadFile(file)
		s.must(err)
		claimID := func(n string) vars { return vars{"claimId": "CLM-E2E-PAGE" + process + "-" + n} }

		accepted := s.start(process, claimID("1"))
		accepted.submissionFails("504 Gateway Timeout")
		accepted.waits(5, 6).passes()
		accepted.submission().complete(vars{"protocol": "P-1"})
		accepted.ends()
		accepted.variables().hold(t, vars{"protocol": "P-1", "retryCount": 1})

		exhausted := s.start(process, claimID("2"))
		exhausted.isExhaustedBy("TEMPORARY_ERROR")
		exhausted.asks(idOf(t, model, tasks[0]))
		exhausted.variables().hold(t, vars{"shouldRetry": false, "retryCount": 5, "manualDecision": nil})

		refused := s.start(process, claimID("3"))
		refused.submissionFails("AUTHORIZATION_DENIED")
		task := refused.asks(idOf(t, model, tasks[1])).holds(vars{"errorClassification": "PERMANENT", "manualDecision": nil})

		// Sent again by a person, and refused again: the task does not show the answer of before.
		task.complete(vars{"manualDecision": "CORRECT", "justification": "carteira conferida"})
		refused.submissionFails("AUTHORIZATION_DENIED")
		task = refused.asks(idOf(t, model, tasks[1])).holds(vars{"manualDecision": nil, "justification": nil, "decidedBy": nil})
		refused.recorded("RESUBMITTED")
		task.complete(vars{"manualDecision": "ABANDON", "justification": "paga pelo paciente"})
		refused.ends()
		refused.recorded("RESUBMITTED", "ABANDONED")
	}
}

// idOf returns the id of a model's user task.
func idOf(t *testing.T, model []byte, name string) string {
	t.Helper()
	found := regexp.MustCompile(`<bpmn:userTask id="([^"]+)" name="` + name + `"`).FindSubmatch(model)
	if found == nil {
		t.Fatalf("the model has no user task %q", name)
	}
	return string(found[1])
}
