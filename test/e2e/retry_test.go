package e2e

import (
	"testing"
	"time"
)

// bands are the minutes that retry 1, 2, ... may wait (RN-BIL-005 section 3).
var bands = [][2]int{{5, 6}, {8, 12}, {16, 24}, {32, 48}, {64, 96}}

func TestAfterFiveRetriesTheClaimGoesToBilling(t *testing.T) {
	s := onSharedBroker(t)
	claim := s.submits("CLM-E2E-2-1")
	claim.isExhaustedBy("SERVICE_UNAVAILABLE: manutenção")

	stopped := vars{
		"shouldRetry": false, "retryCount": 5, "maxRetries": 5, "backoffMinutes": 0, "nextRetryTime": nil,
		"retryReason": "Transient error, all 5 retries used", "errorClassification": "TRANSIENT",
		"originalError": "SERVICE_UNAVAILABLE: manutenção",
	}
	claim.notifies("billing").holds(stopped)
	claim.asks("Task_ReviewClaim").holds(stopped)
	claim.variables().hold(t, stopped)
	if submissions := len(claim.jobs(submitClaim)); submissions != 6 {
		t.Errorf("the claim was submitted %d times, want 6", submissions)
	}
}

// isExhaustedBy lets every submission fail with the same text until no retry is left, and looks at each wait.
func (c *claim) isExhaustedBy(text string) {
	c.Helper()
	for i, band := range bands {
		c.submission().holds(vars{"retryCount": i}).fails(text)
		c.waits(band[0], band[1]).passes()
	}
	c.submissionFails(text)
}

func TestTimerWaitsTheMinutesOfTheDecision(t *testing.T) {
	s := onSharedBroker(t)
	claim := s.submits("CLM-E2E-7-1")
	claim.submissionFails("503 Service Unavailable")
	wait := claim.waits(5, 6)

	s.untilTimersFiredUpTo(wait.due().Add(-time.Minute))
	if early := claim.jobs(submitClaim)[1:]; len(early) != 0 || wait.isOver() {
		t.Fatalf("a minute before its time the claim is submitted again: %d jobs, timer fired: %v", len(early), wait.isOver())
	}

	wait.passes()
	claim.submission().holds(vars{"backoffMinutes": wait.minutes})
	again := claim.jobs(submitClaim)[1]
	if late := again.at().Sub(wait.due()); late < 0 || late > patience {
		t.Errorf("the claim is submitted again %v after its time", late)
	}
}

// untilTimersFiredUpTo moves the broker's clock and returns when every timer has fired that is due by then. A witness
// makes that sure: the broker fires timers in the order in which they fall due, and the witness is the last of them.
func (s *scene) untilTimersFiredUpTo(then time.Time) {
	s.Helper()
	seconds := int(then.Sub(s.clock()) / time.Second)
	witness := s.start("Witness", vars{"seconds": seconds})
	last := witness.next("the witness's timer", "TIMER", "CREATED", anyEvent)
	s.advance(last.due().Sub(s.clock()))
	witness.endsAt("EndEvent_Witness")
}
