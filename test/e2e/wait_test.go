package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The analysis is worked by the test, as another worker would.
func TestClaimWaitsTheDurationOrElseTheMinutes(t *testing.T) {
	s := atSharedBroker(t)
	for i, c := range []struct {
		name   string
		answer vars
		want   time.Duration
	}{
		{"minutes alone", vars{"backoffMinutes": 7}, 7 * time.Minute},
		{"a decision of nothing", vars{"backoffMinutes": 7, "retryDecision": nil}, 7 * time.Minute},
		{"a decision that names no duration", vars{"backoffMinutes": 7, "retryDecision": vars{"policy": "tiss"}}, 7 * time.Minute},
		{"a duration in minutes", vars{"backoffMinutes": 7, "retryDecision": vars{"backoffDuration": "PT7M"}}, 7 * time.Minute},
		{"a duration below a minute", vars{"backoffMinutes": 1, "retryDecision": vars{"backoffDuration": "PT5S"}}, 5 * time.Second},
		{"a duration below a second", vars{"backoffMinutes": 1, "retryDecision": vars{"backoffDuration": "PT0.5S"}}, 500 * time.Millisecond},
		{"a duration of a day", vars{"backoffMinutes": 1440, "retryDecision": vars{"backoffDuration": "PT24H"}}, 24 * time.Hour},
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
