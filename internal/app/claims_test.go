package app_test

import (
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestOpenClaimsAreCountedByPolicyAndState(t *testing.T) {
	t.Parallel()
	cfg := settings(t, "127.0.0.1:1")
	records := audittest.Records(0, 3) // of 2015, so that their time has come
	records[1].Kind, records[1].NextRetryTime = audit.KindPermanent, time.Time{}
	records[2].At, records[2].NextRetryTime = time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	written(t, cfg, records...)
	r := start(t, cfg)
	check.Await(t, "the claims are counted", func() bool {
		_, text := r.get("/metrics")
		return strings.Contains(text, `retry_claims{policy="tiss",state="overdue"} 1`) &&
			strings.Contains(text, `retry_claims{policy="tiss",state="stopped"} 1`) &&
			strings.Contains(text, `retry_claims{policy="tiss",state="waiting"} 1`)
	})
	r.stopped()
}

func TestTheSuccessRateIsOfClaimsThatEndedOrStandStopped(t *testing.T) {
	t.Parallel()
	cfg := settings(t, "127.0.0.1:1")
	records := audittest.Records(0, 6) // 3 and 4 go on with the claims of 0 and 1
	for i := range records {
		records[i].At = time.Now().Add(time.Duration(i-10) * time.Minute)
	}
	for i, kind := range map[int]audit.Kind{3: audit.KindSubmitted, 4: audit.KindAbandoned, 5: audit.KindExhausted} {
		records[i].Kind, records[i].NextRetryTime = kind, time.Time{}
	}
	records[3].ClaimID, records[4].ClaimID = records[0].ClaimID, records[1].ClaimID
	written(t, cfg, records...)
	r := start(t, cfg)
	check.Await(t, "the rate is measured", func() bool {
		_, text := r.get("/metrics")
		return strings.Contains(text, `retry_success_rate{policy="tiss"} 0.333`)
	})
	r.stopped()
}
