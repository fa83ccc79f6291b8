package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
)

// byInsurer sets the scene of examples/policy-by-insurer.bpmn, with its policies.
func byInsurer(t *testing.T) *office {
	t.Helper()
	policies, err := filepath.Abs("../../examples/policies-by-insurer.yaml")
	o := atTheOffice(t, "RETRY_POLICIES_FILE="+policies, "RETRY_JOB_TYPES=analyze-retry=tiss,analyze-retry-unimed=unimed,analyze-retry-amil=amil")
	o.must(err)
	o.example("policy-by-insurer.bpmn")
	return o
}

func TestEachInsurerHasItsPolicy(t *testing.T) {
	o := byInsurer(t)
	unimed := o.start("PolicyByInsurerProcess", vars{"claimId": "CLM-UNIMED-1", "insurer": "unimed"})
	unimed.submissionFails("TIMEOUT")
	unimed.waits(5, 6).passes()
	unimed.submission().holds(vars{"retryCount": 1, "maxRetries": 9, "submissionError": nil}).complete(nil)
	unimed.endsAt("EndEvent_Done")
	unimed.recorded("SUBMITTED")
	unimed.variables().object(t, "retryDecision").hold(t, vars{"policy": "unimed"})
	o.hasAnEvent("CLM-UNIMED-1", "retry.scheduled.v3", `"policy":"unimed"`)

	amil := o.start("PolicyByInsurerProcess", vars{"claimId": "CLM-AMIL-1", "insurer": "amil"})
	for i, band := range [][2]int{{24, 36}, {48, 72}, {96, 144}} {
		amil.submission().holds(vars{"retryCount": i}).fails("TIMEOUT")
		amil.waits(band[0], band[1]).passes()
	}
	amil.submissionFails("TIMEOUT")
	amil.endsAt("EndEvent_ForBilling")
	amil.recorded("ABANDONED")
	amil.variables().hold(t, vars{"status": "EXHAUSTED", "retryReason": "Transient error, all 3 retries used"})
	amil.variables().object(t, "retryDecision").hold(t, vars{"policy": "amil"})
	o.hasAnEvent("CLM-AMIL-1", "retry.max_retries_exceeded.v3", `"policy":"amil"`, `"with":"billing"`)
}

// The list in the model keeps these from a job type that no worker takes.
func TestInsurerWithoutAPolicyHasTheDefault(t *testing.T) {
	o := byInsurer(t)
	for i, insurer := range []any{"outra", "UNIMED", "", 326305, nil} {
		id := fmt.Sprint("CLM-OTHER-", i)
		claim := o.start("PolicyByInsurerProcess", vars{"claimId": id, "insurer": insurer})
		claim.submissionFails("TIMEOUT")
		claim.waits(5, 6)
		claim.variables().hold(t, vars{"maxRetries": 5})
		claim.variables().object(t, "retryDecision").hold(t, vars{"policy": "tiss"})
	}
	claim := o.start("PolicyByInsurerProcess", vars{"claimId": "CLM-OTHER-9"}) // no variable at all
	claim.submissionFails("AUTHORIZATION_DENIED")
	claim.endsAt("EndEvent_ForRegistration")
	claim.recorded("ABANDONED")
	claim.variables().hold(t, vars{"status": "REFUSED"})
}

// What the list in the model is for.
func TestInsurerOutsideOfTheListWouldWaitWithoutAnIncident(t *testing.T) {
	o := byInsurer(t)
	o.variant("../../examples/policy-by-insurer.bpmn", "PolicyByInsurerProcess", "ListlessProcess",
		"if list contains([&#34;unimed&#34;, &#34;amil&#34;], insurer) then ", "", " else &#34;analyze-retry&#34;", "")
	waiting := o.start("ListlessProcess", vars{"claimId": "CLM-OUTRA-1", "insurer": "outra"})
	waiting.submissionFails("TIMEOUT")
	served := o.start("ListlessProcess", vars{"claimId": "CLM-UNIMED-2", "insurer": "unimed"})
	served.submissionFails("TIMEOUT")
	served.waits(5, 6)
	waiting.task("analyze-retry-outra") // no worker has taken it
	if n := len(waiting.events("INCIDENT", "CREATED", func(e event) bool { return waiting.has(e.ProcessInstanceKey) })); n != 0 {
		t.Errorf("%d incidents", n)
	}

	null := o.start("ListlessProcess", vars{"claimId": "CLM-NULL-1", "insurer": nil})
	null.submissionFails("TIMEOUT")
	if got := null.incident(); got.ErrorType != "EXTRACT_VALUE_ERROR" || got.ElementID != "Task_AnalyzeRetry" {
		t.Errorf("an incident of type %s at %s: %s", got.ErrorType, got.ElementID, got.ErrorMessage)
	}
}
