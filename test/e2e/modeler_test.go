//go:build models

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// drawn returns the folder of the models that a script of tools/models has drawn in Camunda's modeler.
func drawn(t *testing.T, script string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	command := exec.CommandContext(t.Context(), "node", script, folder)
	command.Dir = "../../tools/models"
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v (it needs Node 20, Chromium, and what `make lint-models` installs)\n%s", script, err, out)
	}
	return folder
}

// Blank elements are drawn in Camunda's own modeler and the element templates applied to them. The analysis task of the loop
// allows one retry.
func TestModelsMadeOfElementTemplatesRun(t *testing.T) {
	folder := drawn(t, "apply.mjs")
	s := newScene(t)
	for _, language := range []string{"pt-BR", "en"} {
		process := "TemplatesLoop_" + language
		s.must(s.broker.Deploy(t.Context(), filepath.Join(folder, process+".bpmn")))
		starts := func(n string) *claim {
			return s.start(process, vars{"claimId": "CLM-" + process + "-" + n, "retryCount": 0})
		}
		through := starts("1")
		through.submissionFails("504 Gateway Timeout")
		through.waits(5, 6).passes()
		again := through.submission()
		again.holds(vars{"submissionError": nil, "lastSubmissionTime": nil, "retryAfter": nil, "retryCount": 1})
		again.complete(nil)
		through.endsAt("EndEvent_ClaimSubmitted")
		through.recorded("SUBMITTED")

		exhausted := starts("2")
		exhausted.submissionFails("TEMPORARY_ERROR")
		exhausted.waits(5, 6).passes()
		exhausted.submissionFails("TEMPORARY_ERROR")
		exhausted.endsAt("EndEvent_Abandoned")
		exhausted.recorded("ABANDONED")
		exhausted.variables().hold(t, vars{"retryCount": 1, "maxRetries": 1, "retryReason": "Transient error, the 1 retry used"})

		refused := starts("3")
		refused.submissionFails("AUTHORIZATION_DENIED")
		check := refused.task("check-claim-status").holds(vars{"shouldRetry": false, "errorClassification": "PERMANENT"})
		check.variables.object(t, "retryDecision").hold(t, vars{"policy": "tiss"})
		check.complete(vars{"claimReceived": false})
		refused.endsAt("EndEvent_Refused")
	}
}

// The process that docs/modeling.md wires step by step, as tools/models/steps.mjs does it with mouse and keyboard.
func TestProcessWiredByThePageRuns(t *testing.T) {
	folder := drawn(t, "steps.mjs")
	s := newScene(t)
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
