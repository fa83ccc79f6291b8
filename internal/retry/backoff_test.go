package retry_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
)

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }

// The schedule of RN-BIL-005 section 4.1, as it is read by people.
func TestSchedule(t *testing.T) {
	for _, tt := range []struct {
		retryCount                      int
		beforeJitter, shortest, longest int // minutes
	}{
		{0, 5, 5, 6},
		{1, 10, 8, 12},
		{2, 20, 16, 24},
		{3, 40, 32, 48},
		{4, 80, 64, 96},
		// Only a policy with more retries than TISS gets here.
		{6, 240, 192, 240},
		{63, 240, 192, 240},
	} {
		t.Run(fmt.Sprintf("retryCount %d", tt.retryCount), func(t *testing.T) {
			tiss := policy.BuiltIn("tiss")
			if got := tiss.Delay(tt.retryCount); got != minutes(tt.beforeJitter) {
				t.Errorf("%v before jitter, want %d min", got, tt.beforeJitter)
			}
			shortest, longest, _ := tiss.Band(tt.retryCount)
			if shortest != minutes(tt.shortest) || longest != minutes(tt.longest) {
				t.Errorf("jitter makes %v..%v of it, want %d..%d min", shortest, longest, tt.shortest, tt.longest)
			}
		})
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
