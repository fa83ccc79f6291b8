package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The process that docs/modeling.md wires step by step, as tools/models/steps.mjs does it with mouse and keyboard.
func TestProcessWiredByThePageRuns(t *testing.T) {
	folder := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "node", "steps.mjs", folder)
	command.Dir = "../../tools/models"
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("wire the process: %v (it needs Node 20, Chromium, and what `make lint-models` installs)\n%s", err, out)
	}
	s := onSharedBroker(t)
	for _, form := range []string{"review-claim", "correct-data"} {
		s.must(s.broker.Deploy(t.Context(), "../../bpmn/"+form+".form"))
	}
	for process, tasks := range map[string][2]string{
		"ClaimsProcess":       {"Review claim", "Correct data"},
		"ProcessoDeCobrancas": {"Revisar cobrança", "Corrigir dados"},
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
		exhausted.asksInTasklist(idOf(t, model, tasks[0]))
		exhausted.variables().hold(t, vars{"shouldRetry": false, "retryCount": 5, "manualDecision": nil})

		refused := s.start(process, claimID("3"))
		refused.submissionFails("AUTHORIZATION_DENIED")
		refused.asksInTasklist(idOf(t, model, tasks[1]))
		refused.variables().hold(t, vars{"errorClassification": "PERMANENT", "manualDecision": nil})

		// Sent again by a person, and refused again: the task does not show the answer of before.
		refused.answers(vars{"manualDecision": "CORRECT", "justification": "carteira conferida"})
		refused.submissionFails("AUTHORIZATION_DENIED")
		refused.asksInTasklist(idOf(t, model, tasks[1]))
		refused.recorded("RESUBMITTED")
		refused.variables().hold(t, vars{"manualDecision": nil, "justification": nil, "decidedBy": nil})
		refused.answers(vars{"manualDecision": "ABANDON", "justification": "paga pelo paciente"})
		refused.ends()
		refused.recorded("RESUBMITTED", "ABANDONED")
	}
}

// ends waits for the end of the claim's process.
func (c *claim) ends() {
	c.Helper()
	c.await("the end of the process instance", "PROCESS_INSTANCE", "ELEMENT_COMPLETED", func(e event) bool { return e.Key == c.instance })
}

// answers completes the claim's Camunda user task, over REST as Tasklist does.
func (c *claim) answers(result vars) {
	c.Helper()
	created := c.events("USER_TASK", "CREATED", func(e event) bool { return c.has(e.ProcessInstanceKey) })
	if len(created) == 0 {
		c.Fatal("no user task")
	}
	task := created[len(created)-1]
	url := fmt.Sprintf("%s/v1/user-tasks/%d/completion", c.broker.RESTURL(), task.Key)
	request, err := http.NewRequestWithContext(c.Context(), http.MethodPost, url, strings.NewReader(`{"variables":`+result.json(c.T)+`}`))
	c.must(err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	c.must(err)
	c.must(response.Body.Close())
	if response.StatusCode != http.StatusNoContent {
		c.Fatalf("%s: %s", url, response.Status)
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
