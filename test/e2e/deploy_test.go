package e2e

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The shared broker has had the models since it was started.
func TestModelsThatAreDeployedAgainGetNoNewVersion(t *testing.T) {
	s := &scene{T: t, broker: shared}
	s.start("Witness", vars{"seconds": 0}).endsAt("EndEvent_Witness") // so that nothing from before is still on its way
	before := s.events("PROCESS", "CREATED", bundled)
	deployments := len(s.events("DEPLOYMENT", "CREATED", anyEvent))

	out, err := workerCommand(t.Context(), s.broker.Address(), "deploy").CombinedOutput()
	if err != nil {
		t.Fatalf("worker deploy: %v\n%s", err, out)
	}
	s.awaitMany("deployments", deployments+1, "DEPLOYMENT", "CREATED", anyEvent)
	if after := s.events("PROCESS", "CREATED", bundled); len(before) != 2 || len(after) != 2 {
		t.Errorf("the bundled models have %d versions, and after they were deployed again %d, want 2", len(before), len(after))
	}
}

func bundled(e event) bool {
	return e.BpmnProcessID == "SUB_06" || e.BpmnProcessID == "SubmissionRetryProcess"
}

func anyEvent(event) bool { return true }

func TestTheBrokerTakesEveryExampleAlone(t *testing.T) {
	examples, err := filepath.Glob("../../examples/*.bpmn")
	if err != nil || len(examples) < 5 {
		t.Fatalf("examples %v, %v", examples, err)
	}
	for _, example := range examples {
		if err := shared.Deploy(t.Context(), example); err != nil {
			t.Errorf("%s: %v", example, err)
		}
	}
}

func TestDeployingWithoutABrokerFailsAndSaysWhatToCheck(t *testing.T) {
	address := freeAddress(t)
	began := time.Now()
	code, complaint := deployFails(t, address)
	if code != 1 || strings.Count(complaint, "\n") > 2 || !strings.Contains(complaint, "ZEEBE_ADDRESS="+address) {
		t.Errorf("exit code %d, want 1 and a line or two that name ZEEBE_ADDRESS=%s:\n%s", code, address, complaint)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v to say so", took)
	}
}

func TestDeployingWithAWrongAddressIsAFaultOfTheConfiguration(t *testing.T) {
	if code, complaint := deployFails(t, "http://127.0.0.1"); code != 2 || !strings.Contains(complaint, "ZEEBE_ADDRESS") {
		t.Errorf("exit code %d, want 2 and ZEEBE_ADDRESS named:\n%s", code, complaint)
	}
}

// deployFails runs the command, which must fail, and returns how and what it says to stderr.
func deployFails(t *testing.T, address string) (code int, complaint string) {
	t.Helper()
	cmd := workerCommand(t.Context(), address, "deploy")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("worker deploy: %v, printed %q, want it to fail", err, out)
	}
	return exit.ExitCode(), string(exit.Stderr)
}
