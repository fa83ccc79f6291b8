package retry_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }

// The schedule of RN-BIL-005 section 4.1, as it is read by people.
func TestSchedule(t *testing.T) {
	tiss := policy.BuiltIn("tiss")
	for _, tt := range []struct {
		retryCount                      int
		beforeJitter, shortest, longest int // minutes
		bounds                          []retry.Bound
	}{
		{0, 5, 5, 6, []retry.Bound{retry.BoundMin}},
		{1, 10, 8, 12, nil},
		{2, 20, 16, 24, nil},
		{3, 40, 32, 48, nil},
		{4, 80, 64, 96, nil},
		// Only a policy with more retries than TISS gets here.
		{6, 240, 192, 240, []retry.Bound{retry.BoundMax}},
		{math.MaxInt32, 240, 192, 240, []retry.Bound{retry.BoundMax}},
	} {
		shortest, longest, bounds := tiss.Band(tt.retryCount)
		check.Same(t, []any{minutes(tt.beforeJitter), minutes(tt.shortest), minutes(tt.longest), tt.bounds},
			[]any{tiss.Delay(tt.retryCount), shortest, longest, bounds}, "retryCount %d", tt.retryCount)
	}
}

func drawRequest(t *rapid.T) retry.Request {
	return retry.Request{
		ClaimID:            "CLM-" + rapid.StringMatching(`[A-Z0-9-]{0,20}`).Draw(t, "middle") + "-" + rapid.StringMatching(`[0-9]{1,12}`).Draw(t, "number"),
		SubmissionError:    rapid.StringMatching(`[ -~]{0,60}`).Draw(t, "text") + "!",
		RetryCount:         rapid.IntRange(0, 1000).Draw(t, "retryCount"),
		ProcessInstanceKey: rapid.Int64().Draw(t, "processInstanceKey"),
	}
}
