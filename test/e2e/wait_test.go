package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The analysis is worked by the test, as another worker would.
func TestBackoffMinutesAloneSetTheWait(t *testing.T) {
	s := atSharedBroker(t)
	for i, c := range []struct {
		name   string
		answer vars
		want   time.Duration
	}{
		{"minutes alone", vars{"backoffMinutes": 7}, 7 * time.Minute},
		{"a decision of nothing", vars{"backoffMinutes": 7, "retryDecision": nil}, 7 * time.Minute},
		{"another duration in the decision", vars{"backoffMinutes": 9, "retryDecision": vars{"backoffDuration": "PT7M"}}, 9 * time.Minute},
		{"a day", vars{"backoffMinutes": 1440}, 24 * time.Hour},
	} {
		s.part(c.name, func(s *scene) {
			claim := s.start("SubmissionRetryProcess", vars{"claimId": fmt.Sprintf("CLM-E2E-15-%d", i)})
			claim.submissionFails("TIMEOUT")
			c.answer["shouldRetry"] = true
			claim.task(analyzeRetry).complete(c.answer)
			claim.waitsFor(c.want).passes()
			claim.submission().complete(nil)
		})
	}
}
