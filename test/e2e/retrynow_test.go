package e2e

import (
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
)

// reDrive is what the message says that has a claim sent again.
var reDrive = vars{
	"justification": "a operadora voltou", "decidedBy": "maria", "redriveId": "5f0c1c7e-9d0a-4f5e-8a51-0b6a3f1f8f10",
}

// redrives publishes the message that has a claim sent again at once. The broker does not keep it for later.
func (s *scene) redrives(claimID string) {
	s.Helper()
	_, err := s.broker.PublishMessage(s.Context(), &pb.PublishMessageRequest{
		Name: "redrive-claim", CorrelationKey: claimID, Variables: reDrive.json(s.T),
	})
	s.must(err)
}

// isRedriven has a claim sent again as soon as it waits for the message at this event.
func (c *claim) isRedriven(claimID, event string) {
	c.Helper()
	c.waitsForAnOrder(event)
	c.redrives(claimID)
}

// at matches what happens at an element.
func at(element string) func(event) bool {
	return func(e event) bool { return e.ElementID == element }
}

func TestWaitingClaimIsSentAgainAtOnceOnRequest(t *testing.T) {
	s := onSharedBroker(t)
	claim := s.submits("CLM-E2E-21-1")
	s.redrives("CLM-E2E-21-1") // it does not wait yet, so this is lost
	claim.submissionFails("TIMEOUT")
	first := claim.waits(5, 6)
	claim.isRedriven("CLM-E2E-21-1", "Event_RedriveClaim")

	claim.submission().holds(vars{"retryCount": 1, "submissionError": nil, "lastSubmissionTime": nil, "retryAfter": nil}).fails("TIMEOUT")
	claim.waits(8, 12).passes() // the count goes on, and no message waits
	claim.submission().holds(vars{"retryCount": 2}).complete(nil)
	claim.endsAt("EndEvent_ClaimSubmitted")
	if first.isOver() {
		t.Error("the first wait has come to its end next to the message")
	}
	claim.recorded("REDRIVEN", "SUBMITTED")
	claim.recordedWith("Task_RecordRedriven", reDrive)
}

func TestResentClaimThatNobodyRecordsGoesOnAfterAnHour(t *testing.T) {
	s := atSharedBroker(t)
	for _, c := range []struct {
		id, text string
		stops    func(*claim)
		resend   func(*claim)
		count    int
	}{
		{
			"CLM-E2E-23-1", "TIMEOUT", func(c *claim) { c.waits(5, 6) },
			func(c *claim) { c.isRedriven("CLM-E2E-23-1", "Event_RedriveClaim") }, 1,
		},
		{
			"CLM-E2E-23-2", "INVALID_PATIENT_DATA", func(c *claim) { c.notifies("registration") },
			func(c *claim) { c.asks("Task_CorrectData").complete(sentAgain) }, 0,
		},
	} {
		s.part(c.text, func(s *scene) {
			w := s.startWorker()
			claim := s.submits(c.id)
			claim.submissionFails(c.text)
			c.stops(claim)
			w.stops()

			c.resend(claim)
			bound := claim.next("the bound of the record", "TIMER", "CREATED", anyEvent)
			s.untilTimersFiredUpTo(bound.due().Add(-time.Minute))
			if submissions := len(claim.jobs(submitClaim)); submissions != 1 {
				s.Errorf("a minute before the hour is over the claim was submitted %d times, want once", submissions)
			}
			s.advance(bound.due().Sub(s.clock()))
			claim.submission().holds(vars{"retryCount": c.count}).complete(nil)

			s.startWorker()
			claim.endsAt("EndEvent_ClaimSubmitted")
			claim.recorded("SUBMITTED")
		})
	}
}

// recordedWith fails the test where the last job of a recording task did not see these variables as its own.
func (c *claim) recordedWith(element string, want vars) {
	c.Helper()
	jobs := c.events("JOB", "COMPLETED", func(e event) bool { return e.ElementID == element && c.has(e.ProcessInstanceKey) })
	if len(jobs) == 0 {
		c.Fatalf("%s has recorded nothing", element)
	}
	last, got := jobs[len(jobs)-1], vars{}
	for _, v := range c.events("VARIABLE", "CREATED", func(e event) bool { return e.ScopeKey == last.ElementInstanceKey }) {
		got[v.Name] = readVars(c.T, `{"value":`+v.VariableValue+`}`)["value"]
	}
	got.hold(c.T, want)
}
