package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const reason = "a operadora confirmou que voltou"

// office is where a person sits who may have claims sent again: next to a worker with a store of its own, so that no claim
// of another test is chosen.
type office struct {
	*scene
	store  string
	worker *worker
}

// atTheOffice sets that scene; the worker has further settings if there are any.
func atTheOffice(t *testing.T, settings ...string) *office {
	t.Helper()
	o := &office{scene: withoutWorker(t), store: "RETRY_DATABASE_URL=sqlite://" + filepath.Join(t.TempDir(), "store.db")}
	o.worker = o.startWorker(append(settings, o.store)...)
	return o
}

// part runs a part of the test next to the same worker.
func (o *office) part(name string, story func(*office)) {
	o.Helper()
	o.scene.part(name, func(s *scene) { story(&office{s, o.store, o.worker}) })
}

// says runs a command of the worker next to the one that works, and returns its exit code and all that it prints.
func (o *office) says(args ...string) (code int, text string) {
	o.Helper()
	ctx, cancel := o.within(patience)
	defer cancel()
	command := workerCommand(ctx, o.gateway(), args...)
	command.Env = append(command.Env, o.store)
	out, err := command.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		o.Fatal(err)
	}
	return command.ProcessState.ExitCode(), string(out)
}

// orders runs worker redrive, which must end with this exit code and say these words.
func (o *office) orders(code int, words string, args ...string) {
	o.Helper()
	got, text := o.says(append([]string{"redrive", "--reason", reason, "--operator", "maria"}, args...)...)
	if got != code || !strings.Contains(text, words) {
		o.Fatalf("redrive %v: exit code %d, want %d with %q:\n%s", args, got, code, words, text)
	}
}

// plan writes what worker redrive plans to a file, and returns its path.
func (o *office) plan(args ...string) string {
	o.Helper()
	code, text := o.says(append([]string{"redrive", "--json"}, args...)...)
	file := filepath.Join(o.TempDir(), "plan.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil || code != 0 {
		o.Fatalf("redrive %v: exit code %d, %v:\n%s", args, code, err, text)
	}
	return file
}

func TestCommandEndsTheWaitOfAClaim(t *testing.T) {
	o := atTheOffice(t)
	claim := o.submits("CLM-E2E-31-1")
	claim.submissionFails("TIMEOUT")
	wait := claim.waits(5, 6)
	claim.waitsForAnOrder("Event_RedriveClaim")

	o.orders(5, "it may have arrived (CHECK_STATUS)", "--claim", "CLM-E2E-31-1")
	o.orders(0, "REDRIVEN", "--claim", "CLM-E2E-31-1", "--checked")

	claim.submission().holds(vars{"retryCount": 1}).complete(nil) // and nobody has moved the clock
	claim.endsAt("EndEvent_ClaimSubmitted")
	if wait.isOver() {
		t.Error("the timer has fired")
	}
	claim.recorded("REDRIVEN", "SUBMITTED")
	if code, story := o.says("history", "CLM-E2E-31-1"); code != 0 || !strings.Contains(story, "sent again, by maria  "+reason) {
		t.Errorf("exit code %d, the story is:\n%s", code, story)
	}
	if code, text := o.says("audit", "verify"); code != 0 {
		t.Errorf("exit code %d: %s", code, text)
	}
	o.orders(5, "the insurer accepted it", "--claim", "CLM-E2E-31-1", "--force")
}

func TestStoppedClaimIsSentAgainByForceOnly(t *testing.T) {
	o := atTheOffice(t)
	nobody := vars{"justification": nil, "decidedBy": nil, "redriveId": nil}
	claim := o.submits("CLM-E2E-33-1")
	claim.submissionFails("INVALID_PROCEDURE_CODE")
	claim.notifies("registration")
	asked := claim.asks("Task_CorrectData").holds(nobody)
	claim.waitsForAnOrder("BoundaryEvent_RegistrationRedriven")
	o.orders(5, "its error is permanent", "--claim", "CLM-E2E-33-1")
	o.orders(0, "RESUBMITTED", "--claim", "CLM-E2E-33-1", "--force")
	claim.submission().holds(vars{"retryCount": 0}).fails("AUTHORIZATION_DENIED")
	asked.isTakenBack()
	claim.recordedWith("Task_RecordResubmittedByRegistration", vars{"justification": reason, "decidedBy": "maria"})
	claim.notifies("registration")
	// What somebody else said the round before is not the person's.
	claim.asks("Task_CorrectData").holds(nobody).
		complete(vars{"manualDecision": "RESUBMIT", "justification": "senha nova", "decidedBy": "joão"})
	claim.submission().complete(nil)
	claim.endsAt("EndEvent_ClaimSubmitted")
	claim.recorded("RESUBMITTED", "RESUBMITTED", "SUBMITTED")
	claim.recordedWith("Task_RecordResubmittedByRegistration", vars{"justification": "senha nova", "decidedBy": "joão", "redriveId": nil})
}

// A missing worker does not keep the submission away for long.
func TestResubmissionThatNobodyRecordsGoesOnAfterAnHour(t *testing.T) {
	o := atTheOffice(t)
	claim := o.submits("CLM-E2E-23-2")
	claim.submissionFails("INVALID_PATIENT_DATA")
	claim.notifies("registration")
	o.worker.stops()
	claim.asks("Task_CorrectData").complete(sentAgain)
	bound := claim.waitsAt("BoundaryEvent_RegistrationResubmitUnrecorded")
	o.advance(bound.due().Add(-time.Minute).Sub(o.clock()))
	if submissions := len(claim.jobs(submitClaim)); submissions != 1 {
		t.Errorf("a minute before the hour is over the claim was submitted %d times, want once", submissions)
	}
	o.advance(bound.due().Sub(o.clock()))
	claim.submission().holds(vars{"retryCount": 0}).complete(nil)
}
