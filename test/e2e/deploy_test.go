package e2e

import (
	"testing"
)

// The shared broker has had the models since it was started.
func TestModelsThatAreDeployedAgainGetNoNewVersion(t *testing.T) {
	s := atSharedBroker(t)
	s.since = 0
	s.start("Witness", vars{"seconds": 0}).endsAt("EndEvent_Witness") // so that nothing from before is still on its way
	before := s.events("PROCESS", "CREATED", bundled)
	deployments := len(s.events("DEPLOYMENT", "CREATED", anyEvent))

	out, err := workerCommand(t.Context(), s.gateway(), "deploy").CombinedOutput()
	if err != nil {
		t.Fatalf("worker deploy: %v\n%s", err, out)
	}
	s.until("the deployment is there", func() bool { return len(s.events("DEPLOYMENT", "CREATED", anyEvent)) > deployments },
		func() string { return "it is not" })
	if after := s.events("PROCESS", "CREATED", bundled); len(before) != 2 || len(after) != 2 {
		t.Errorf("the bundled models have %d versions, and after they were deployed again %d, want 2", len(before), len(after))
	}
}

func bundled(e event) bool {
	return e.BpmnProcessID == "SUB_06" || e.BpmnProcessID == "SubmissionRetryProcess"
}

func anyEvent(event) bool { return true }
