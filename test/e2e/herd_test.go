package e2e

import (
	"fmt"
	"testing"
	"time"
)

// After a suspension, or an outage of the broker, all waits that are overdue end in one moment. Nobody has lost a try by it.
func TestClaimsThatHaveWaitedTooLongAreSentAgainOneAfterAnother(t *testing.T) {
	s := newScene(t)
	spread := []int{0, 7, 42, 99} // by the end of their numbers
	var claims []*claim
	for _, end := range spread {
		claim := s.start("SubmissionRetryProcess", vars{"claimId": fmt.Sprintf("CLM-E2E-40-1%02d", end)})
		claim.submissionFails("TIMEOUT")
		claim.waits(5, 6)
		claims = append(claims, claim)
	}
	short := s.start("SubmissionRetryProcess", vars{"claimId": "CLM-E2E-41-7"}) // it has no two digits, and goes on at once
	short.submissionFails("TIMEOUT")
	short.waits(5, 6)
	s.advance(6 * time.Hour)
	for i, claim := range claims {
		wait := claim.waitsAt("Event_Spread")
		spread := time.Duration(spread[i]) * 6 * time.Second
		wait.isWithin(spread, spread)
		wait.passes()
		claim.submission().holds(vars{"retryCount": 1}).complete(nil)
		claim.endsAt("EndEvent_ClaimSubmitted")
		if i == 0 { // its wait was none either
			short.submission().holds(vars{"retryCount": 1}).complete(nil)
			short.endsAt("EndEvent_ClaimSubmitted")
		}
	}
}
