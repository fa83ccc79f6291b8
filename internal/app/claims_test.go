package app_test

import (
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// What the numbers mean, the tests of claims and kpi show.
func TestOpenClaimsEventsThatWaitAndTheSuccessRateAreMeasured(t *testing.T) {
	t.Parallel()
	cfg := settings(t, nobody)
	cfg.EventsURL = "kafka://" + nobody
	records := audittest.Records(0, 5) // of 2015, so that their time has come
	records[1].Kind, records[1].At, records[1].NextRetryTime = audit.KindExhausted, time.Now().Add(-time.Minute), time.Time{}
	records[2].At, records[2].NextRetryTime = time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	for i := range records[3:] { // a claim fails and is accepted
		records[3+i].ClaimID, records[3+i].At = "CLM-accepted-1", time.Now().Add(time.Duration(i-10)*time.Minute)
	}
	records[4].Kind, records[4].NextRetryTime = audit.KindSubmitted, time.Time{}
	written(t, cfg, records...)
	r := start(t, cfg)
	check.Await(t, "all is counted", func() bool {
		_, text := r.get("/metrics")
		return strings.Contains(text, "\nretry_outbox_pending 5\n") &&
			strings.Contains(text, `retry_claims{policy="tiss",state="overdue"} 1`) &&
			strings.Contains(text, `retry_claims{policy="tiss",state="stopped"} 1`) &&
			strings.Contains(text, `retry_claims{policy="tiss",state="waiting"} 1`) &&
			strings.Contains(text, `retry_success_rate{policy="tiss"} 0.5`)
	})
	r.stopped()
}
