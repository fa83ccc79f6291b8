package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The worker dies with its answers on the way. They are in the store, also the time of the next retry, which would be
// another one if the second worker decided anew. The claims are at their last retry, whose wait is one of 33: five of
// them would not get the same wait twice by chance either.
func TestRedeliveredJobGetsTheSameAnswer(t *testing.T) {
	s := atSharedBroker(t)
	tap, address := s.tapped()
	first := s.startWorkerAt(address)

	var claims []*claim
	var lost []vars
	for i := range 5 {
		claim := s.submits(fmt.Sprintf("CLM-E2E-8-%d", i))
		submission := claim.submission()
		s.corrects(submission.instance, vars{"retryCount": 4})
		submission.fails("NETWORK_ERROR")
		analysis := claim.next("the analysis", "JOB", "CREATED", func(e event) bool { return e.Type == analyzeRetry })
		claims = append(claims, claim)
		lost = append(lost, readVars(t, tap.answerTo(s, analysis.Key)))
	}
	s.must(first.Kill())
	s.startWorker()
	s.advance(11 * time.Second) // the locks of the first worker are over

	for i, claim := range claims {
		redelivered := claim.next("the end of the lock", "JOB", "TIMED_OUT", anyEvent)
		answered := claim.next("the second answer", "JOB", "COMPLETED", func(e event) bool { return e.Key == redelivered.Key })
		wait := claim.waits(64, 96)
		if first := lost[i]["backoffMinutes"]; float64(wait.minutes) != first {
			t.Errorf("claim %d waits %d minutes, but %v were answered first", i, wait.minutes, first)
		}
		readVars(t, s.answer(answered)).hold(t, lost[i])
	}
}
