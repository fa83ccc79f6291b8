package e2e

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	o := &office{scene: atSharedBroker(t), store: "RETRY_DATABASE_URL=sqlite://" + filepath.Join(t.TempDir(), "store.db")}
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

// waitsForAnOrder waits until the process listens for the message at this event, which is a moment after it came there.
func (c *claim) waitsForAnOrder(event string) {
	c.Helper()
	c.next("the subscription of "+event, "PROCESS_MESSAGE_SUBSCRIPTION", "CREATED", at(event))
}

func TestCommandEndsTheWaitOfAClaim(t *testing.T) {
	o := atTheOffice(t)
	claim := o.submits("CLM-E2E-31-1")
	claim.submissionFails("TIMEOUT")
	wait := claim.waits(5, 6)
	claim.waitsForAnOrder("Event_RedriveClaim")

	o.orders(0, "REDRIVEN at ", "--claim", "CLM-E2E-31-1")

	claim.submission().holds(vars{"retryCount": 1}).complete(nil) // and nobody has moved the clock
	claim.endsAt("EndEvent_ClaimSubmitted")
	if wait.isOver() {
		t.Error("the timer has fired")
	}
	claim.recorded("REDRIVEN", "SUBMITTED")
	if code, story := o.says("history", "CLM-E2E-31-1"); code != 0 || !strings.Contains(story, "Sent again now by maria") ||
		!strings.Contains(story, "Reason: "+reason) {
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
	for id, c := range map[string]struct {
		stops                         func(*claim)
		team, person, event, recorder string
		code                          int
		refused                       string
	}{
		"CLM-E2E-32-1": {
			func(c *claim) { c.isExhaustedBy("RATE_LIMIT") },
			"billing", "Task_ReviewClaim", "BoundaryEvent_BillingRedriven", "Task_RecordResubmittedByBilling",
			4, "max_retries_exceeded: claim CLM-E2E-32-1",
		},
		"CLM-E2E-33-1": {
			func(c *claim) { c.submissionFails("INVALID_PROCEDURE_CODE") },
			"registration", "Task_CorrectData", "BoundaryEvent_RegistrationRedriven", "Task_RecordResubmittedByRegistration",
			5, "may be billed twice",
		},
	} {
		o.part(id, func(o *office) {
			claim := o.submits(id)
			c.stops(claim)
			claim.notifies(c.team)
			asked := claim.asks(c.person).holds(nobody)
			claim.waitsForAnOrder(c.event)
			o.orders(c.code, c.refused, "--claim", id)
			o.orders(0, "RESUBMITTED at ", "--claim", id, "--force")
			claim.submission().holds(vars{"retryCount": 0}).fails("AUTHORIZATION_DENIED")
			asked.isTakenBack()
			claim.recordedWith(c.recorder, vars{"justification": reason, "decidedBy": "maria"})
			claim.notifies("registration")
			// What somebody else said the round before is not the person's.
			claim.asks("Task_CorrectData").holds(nobody).
				complete(vars{"manualDecision": "RESUBMIT", "justification": "senha nova", "decidedBy": "joão"})
			claim.submission().complete(nil)
			claim.endsAt("EndEvent_ClaimSubmitted")
			claim.recorded("RESUBMITTED", "RESUBMITTED", "SUBMITTED")
			claim.recordedWith("Task_RecordResubmittedByRegistration", vars{"justification": "senha nova", "decidedBy": "joão", "redriveId": nil})
		})
	}
}

func TestStoppedClaimKeepsItsScheduleAndItsCount(t *testing.T) {
	o := atTheOffice(t)
	claim := o.submits("CLM-E2E-36-1")
	claim.submissionFails("TIMEOUT")
	claim.waits(5, 6).passes()
	claim.submissionFails("INVALID_PROCEDURE_CODE")
	claim.notifies("registration")
	claim.deadLetter("Task_CorrectData", "registration")

	o.orders(0, "REDRIVEN at ", "--claim", "CLM-E2E-36-1", "--force", "--wait")
	kept := claim.waitsAt("Event_RegistrationRedriveWait")
	if kept.minutes < 8 || kept.minutes > 12 {
		t.Errorf("it waits %d minutes, want those before retry 2: 8 to 12", kept.minutes)
	}
	kept.passes()
	claim.submission().holds(vars{"retryCount": 2}).fails("TIMEOUT")
	claim.waits(16, 24)
	claim.waitsForAnOrder("Event_RedriveClaim")
	o.orders(0, "REDRIVEN at ", "--claim", "CLM-E2E-36-1")
	claim.submission().holds(vars{"retryCount": 3}).fails("AUTHORIZATION_DENIED")

	claim.notifies("registration")
	claim.asks("Task_CorrectData").complete(vars{"manualDecision": "RESUBMIT", "justification": "senha nova"})
	claim.submission().holds(vars{"retryCount": 0}).complete(nil) // at once, in a round of its own
	claim.endsAt("EndEvent_ClaimSubmitted")
	claim.recorded("REDRIVEN", "REDRIVEN", "RESUBMITTED", "SUBMITTED")
	if _, text := o.says("audit", "export", "CLM-E2E-36-1"); strings.Count(text, "redriveWait") != 1 {
		t.Errorf("not one record has a wait:\n%s", text)
	}
}

func TestOneCommandSendsAllUnknownErrorsAgain(t *testing.T) {
	o := atTheOffice(t)
	ids := []string{"CLM-E2E-35-1", "CLM-E2E-35-2", "CLM-E2E-35-3"}
	var claims []*claim
	for _, id := range ids {
		c := o.submits(id)
		c.submissionFails("erro 4711 da operadora")
		c.waits(5, 6)
		c.waitsForAnOrder("Event_RedriveClaim")
		claims = append(claims, c)
	}
	other := o.submits("CLM-E2E-35-4")
	other.submissionFails("TIMEOUT")
	other.waits(5, 6)

	o.orders(0, "3 claims chosen", "--rule", "unknown", "--since", "1h", "--dry-run")
	for _, c := range append(claims, other) {
		if n := len(c.jobs(submitClaim)); n != 1 {
			t.Errorf("after the dry run a claim was submitted %d times, want once", n)
		}
	}
	o.orders(2, "no terminal to ask at", "--rule", "unknown")
	o.orders(0, "3 of 3 claims sent again.", "--rule", "unknown", "--since", "1h", "--yes", "--rate", "100/s")
	for range ids {
		o.take(submitClaim).complete(nil)
	}
	for _, c := range claims {
		c.endsAt("EndEvent_ClaimSubmitted")
		c.recorded("REDRIVEN", "SUBMITTED")
	}
	if n := len(other.jobs(submitClaim)); n != 1 {
		t.Errorf("the claim that was not chosen was submitted %d times, want once", n)
	}
}
