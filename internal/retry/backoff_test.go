package retry_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }

// The schedule of RN-BIL-005 section 4.1, as it is read by people.
func TestSchedule(t *testing.T) {
	t.Parallel()
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
		{5, 160, 128, 192},
		{6, 240, 192, 240},
		{7, 240, 192, 240},
		{62, 240, 192, 240},
		{63, 240, 192, 240},
		{1 << 30, 240, 192, 240},
	} {
		t.Run(fmt.Sprintf("retryCount %d", tt.retryCount), func(t *testing.T) {
			t.Parallel()
			tiss := policy.BuiltIn("tiss")
			if got := tiss.Delay(tt.retryCount); got != minutes(tt.beforeJitter) {
				t.Errorf("%v before jitter, want %d min", got, tt.beforeJitter)
			}
			shortest, longest := tiss.Band(tt.retryCount)
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

func TestEveryBackoffIsAWholeMinuteWithinTheBand(t *testing.T) {
	t.Parallel()
	tiss := policy.BuiltIn("tiss")
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		got := tiss.Backoff(r)
		shortest, longest := tiss.Band(r.RetryCount)
		if got < shortest || got > longest || got%time.Minute != 0 {
			t.Fatalf("waits %v, want a whole minute of %v..%v", got, shortest, longest)
		}
		if got < 5*time.Minute || got > 240*time.Minute {
			t.Fatalf("waits %v, want 5..240 min (V3)", got)
		}
	})
}

func TestTheDelayBeforeJitterNeverShrinks(t *testing.T) {
	t.Parallel()
	tiss := policy.BuiltIn("tiss")
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, math.MaxInt32).Draw(t, "retryCount")
		if a, b := tiss.Delay(n), tiss.Delay(n+1); a > b || b > tiss.Max {
			t.Fatalf("retryCount %d waits %v, the next %v", n, a, b)
		}
	})
}

func TestTheSameQuestionAlwaysGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		first, err1 := policy.BuiltIn("tiss").Decide(r, now)
		second, err2 := policy.BuiltIn("tiss").Decide(r, now)
		if first != second || err1 != nil || err2 != nil {
			t.Fatalf("%+v (%v), then %+v (%v)", first, err1, second, err2)
		}
	})
}

func TestAPermanentErrorIsNeverRetried(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		r.RetryCount %= policy.BuiltIn("tiss").MaxRetries // beyond it nothing is retried, whatever the error
		code := rapid.SampledFrom(knownErrors[:5]).Draw(t, "code").code
		r.SubmissionError += code + rapid.StringMatching(`[ -~]{0,60}`).Draw(t, "more")
		d, err := policy.BuiltIn("tiss").Decide(r, now)
		if err != nil || d.Outcome != retry.OutcomePermanent {
			t.Fatalf("%q, retryCount %d: %v, %v", r.SubmissionError, r.RetryCount, d.Outcome, err)
		}
	})
}

// RN-BIL-004 V4 and its alert "jitter deviation > 30 %": over many claims every minute of the band is used about
// equally often, the ends included.
func TestJitterFillsTheBandEvenly(t *testing.T) {
	t.Parallel()
	const claims = 10_000
	tiss := policy.BuiltIn("tiss")
	for _, retryCount := range []int{0, 1, 2, 3, 4, 6} {
		t.Run(fmt.Sprintf("retryCount %d", retryCount), func(t *testing.T) {
			t.Parallel()
			seen := map[time.Duration]int{}
			for i := range claims {
				r := request("TIMEOUT", retryCount)
				r.ClaimID = fmt.Sprintf("CLM-%06d-1", i)
				seen[tiss.Backoff(r)]++
			}
			shortest, longest := tiss.Band(retryCount)
			expected := float64(claims) / (float64((longest-shortest)/time.Minute) + 1)
			for d := shortest; d <= longest; d += time.Minute {
				if deviation := math.Abs(float64(seen[d])/expected - 1); deviation > 0.30 {
					t.Errorf("%v chosen %d times, %.0f expected: %.0f %% off", d, seen[d], expected, deviation*100)
				}
			}
		})
	}
}

func TestAClaimSubmittedAnewInAnotherInstanceGetsAnotherJitter(t *testing.T) {
	t.Parallel()
	tiss := policy.BuiltIn("tiss")
	waits := map[time.Duration]bool{}
	for instance := range int64(100) {
		r := request("TIMEOUT", 4)
		r.ProcessInstanceKey = instance
		waits[tiss.Backoff(r)] = true
	}
	if len(waits) < 25 {
		t.Errorf("100 instances share %d of 33 minutes", len(waits))
	}
}
