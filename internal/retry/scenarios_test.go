package retry_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// now is the time at which every decision of these tests is taken.
var now = time.Date(2025, 1, 12, 10, 40, 0, 0, time.UTC)

func request(submissionError string, retryCount int) retry.Request {
	return retry.Request{
		ClaimID:            "CLM-001-1234567890",
		SubmissionError:    submissionError,
		RetryCount:         retryCount,
		ProcessInstanceKey: 2251799813685249,
	}
}

func decide(t *testing.T, r retry.Request) retry.Decision {
	t.Helper()
	d, err := policy.BuiltIn("tiss").Decide(r, now)
	if err != nil {
		t.Fatalf("Decide(%+v): %v", r, err)
	}
	return d
}

// The test scenarios that RN-BIL-005 section 13.5 lists, by name.
func TestScenariosOfRNBIL005(t *testing.T) {
	t.Parallel()
	t.Run("1 transient error schedules a retry", func(t *testing.T) {
		t.Parallel()
		d := decide(t, request("TIMEOUT - Connection timeout after 30s", 1))
		if d.Outcome != retry.OutcomeRetry || d.Error.Class != retry.Transient || d.RetryCount != 2 {
			t.Errorf("got %v %v, count %d; want retry TRANSIENT, count 2", d.Outcome, d.Error.Class, d.RetryCount)
		}
		if got, want := d.Reason(), "Transient error, retry 2 of 5"; got != want {
			t.Errorf("reason %q, want %q", got, want)
		}
		if got, want := d.NextRetryTime, now.Add(d.Backoff); !got.Equal(want) {
			t.Errorf("next retry at %v, want %v", got, want)
		}
	})
	t.Run("2 maximum of retries exceeded", func(t *testing.T) {
		t.Parallel()
		d := decide(t, request("TIMEOUT", 5))
		if d.Outcome != retry.OutcomeExhausted || d.ErrorCode() != "MAX_RETRIES_EXCEEDED" {
			t.Errorf("got %v %q, want exhausted MAX_RETRIES_EXCEEDED", d.Outcome, d.ErrorCode())
		}
		if d.RetryCount != 5 || d.Backoff != 0 || !d.NextRetryTime.IsZero() {
			t.Errorf("count %d, backoff %v, next %v; want 5, none, none", d.RetryCount, d.Backoff, d.NextRetryTime)
		}
	})
	t.Run("3 permanent error detected", func(t *testing.T) {
		t.Parallel()
		d := decide(t, request("INVALID_PATIENT_DATA - CPF inválido", 0))
		if d.Outcome != retry.OutcomePermanent || d.ErrorCode() != "PERMANENT_ERROR" || d.Error.Class != retry.Permanent {
			t.Errorf("got %v %q %v, want permanent PERMANENT_ERROR PERMANENT", d.Outcome, d.ErrorCode(), d.Error.Class)
		}
		if d.RetryCount != 0 || d.Backoff != 0 {
			t.Errorf("count %d, backoff %v; want 0, none", d.RetryCount, d.Backoff)
		}
	})
	t.Run("4 exponential backoff calculated", func(t *testing.T) {
		t.Parallel()
		for retryCount, want := range []int{5, 10, 20, 40, 80} {
			if got := decide(t, request("TIMEOUT", retryCount)).Delay; got != minutes(want) {
				t.Errorf("retryCount %d: %v before jitter, want %v", retryCount, got, minutes(want))
			}
		}
	})
	t.Run("5 jitter applied correctly", func(t *testing.T) {
		t.Parallel()
		waits := map[time.Duration]bool{}
		for claim := range 200 {
			r := request("TIMEOUT", 1)
			r.ClaimID = fmt.Sprintf("CLM-%d-1", claim)
			d := decide(t, r)
			if d.Backoff < 8*time.Minute || d.Backoff > 12*time.Minute {
				t.Errorf("claim %s waits %v, want 10 min ±20 %%", r.ClaimID, d.Backoff)
			}
			waits[d.Backoff] = true
		}
		if len(waits) != 5 {
			t.Errorf("200 claims share %d different waits, want all 5 of 8..12 min", len(waits))
		}
	})
	t.Run("6 known errors classified", func(t *testing.T) {
		t.Parallel()
		for _, tt := range knownErrors {
			if got := decide(t, request(tt.code, 0)).Error.Class; got != tt.class {
				t.Errorf("%s is %v, want %v", tt.code, got, tt.class)
			}
		}
	})
	t.Run("7 unknown error handled", func(t *testing.T) {
		t.Parallel()
		d := decide(t, request("ORA-00060 deadlock detected", 1))
		if d.Outcome != retry.OutcomeRetry || d.Error.Class != retry.Unknown {
			t.Errorf("got %v %v, want retry UNKNOWN", d.Outcome, d.Error.Class)
		}
		if got, want := d.Reason(), "Unknown error, retry 2 of 5"; got != want {
			t.Errorf("reason %q, want %q", got, want)
		}
	})
	t.Run("8 analysis is idempotent", func(t *testing.T) {
		t.Parallel()
		r := request("SERVICE_UNAVAILABLE", 3)
		if first, second := decide(t, r), decide(t, r); first != second {
			t.Errorf("asked twice: %+v, then %+v", first, second)
		}
	})
}

// The test scenarios that RN-BIL-004 section 13.5 lists, by name.
func TestScenariosOfRNBIL004(t *testing.T) {
	t.Parallel()
	t.Run("1 transient error SERVICE_UNAVAILABLE", func(t *testing.T) {
		t.Parallel()
		d := decide(t, request("SERVICE_UNAVAILABLE", 0))
		if d.Outcome != retry.OutcomeRetry || d.Error.Class != retry.Transient || d.RetryCount != 1 {
			t.Errorf("got %v %v, count %d; want retry TRANSIENT, count 1", d.Outcome, d.Error.Class, d.RetryCount)
		}
	})
	t.Run("2 permanent error INVALID_PROCEDURE_CODE", func(t *testing.T) {
		t.Parallel()
		if d := decide(t, request("INVALID_PROCEDURE_CODE", 0)); d.Outcome != retry.OutcomePermanent {
			t.Errorf("got %v, want permanent", d.Outcome)
		}
	})
	t.Run("3 unknown error is retried to be safe", func(t *testing.T) {
		t.Parallel()
		if d := decide(t, request("erro desconhecido", 0)); d.Outcome != retry.OutcomeRetry {
			t.Errorf("got %v, want retry", d.Outcome)
		}
	})
	t.Run("4 exponential backoff grows", func(t *testing.T) {
		t.Parallel()
		for retryCount := range 4 {
			earlier, later := decide(t, request("503", retryCount)), decide(t, request("503", retryCount+1))
			if later.Backoff <= earlier.Backoff {
				t.Errorf("retry %d waits %v, retry %d waits %v: does not grow",
					retryCount+1, earlier.Backoff, retryCount+2, later.Backoff)
			}
		}
	})
	t.Run("5 jitter spread over -20 to +20 percent", func(t *testing.T) {
		t.Parallel()
		shortest, longest := waitsOfManyClaims(4)
		if shortest != 64*time.Minute || longest != 96*time.Minute {
			t.Errorf("80 min spread over %v..%v, want 64..96 min", shortest, longest)
		}
	})
	t.Run("6 maximum of 5 retries", func(t *testing.T) {
		t.Parallel()
		if d := decide(t, request("TIMEOUT", 4)); d.Outcome != retry.OutcomeRetry || d.RetryCount != 5 {
			t.Errorf("retryCount 4: %v, count %d; want the fifth retry", d.Outcome, d.RetryCount)
		}
		if d := decide(t, request("TIMEOUT", 5)); d.Outcome != retry.OutcomeExhausted {
			t.Errorf("retryCount 5: %v, want exhausted", d.Outcome)
		}
	})
	t.Run("7 maximum backoff is 240 minutes", func(t *testing.T) {
		t.Parallel()
		if _, longest := waitsOfManyClaims(20); longest != 240*time.Minute {
			t.Errorf("longest wait %v, want 240 min", longest)
		}
	})
	t.Run("8 minimum backoff is 5 minutes", func(t *testing.T) {
		t.Parallel()
		if shortest, _ := waitsOfManyClaims(0); shortest != 5*time.Minute {
			t.Errorf("shortest wait %v, want 5 min", shortest)
		}
	})
}

// waitsOfManyClaims returns the shortest and the longest wait of 2,000 claims that fail with the same count: so many that
// every minute of the widest band comes up.
func waitsOfManyClaims(retryCount int) (shortest, longest time.Duration) {
	for claim := range 2000 {
		r := request("TIMEOUT", retryCount)
		r.ClaimID = fmt.Sprintf("CLM-%d-1", claim)
		wait := policy.BuiltIn("tiss").Backoff(r)
		if claim == 0 {
			shortest, longest = wait, wait
		}
		shortest, longest = min(shortest, wait), max(longest, wait)
	}
	return shortest, longest
}

// RN-BIL-005 section 9.2 stops the fifth submission with "4 >= 5"; the limit of section 2.1 holds instead.
func TestAClaimIsSubmittedSixTimesAtMost(t *testing.T) {
	t.Parallel()
	submissions, retryCount := 1, 0
	for submissions < 100 {
		d := decide(t, request("TIMEOUT", retryCount))
		if d.Outcome != retry.OutcomeRetry {
			break
		}
		retryCount = d.RetryCount
		submissions++
	}
	if submissions != 6 {
		t.Errorf("%d submissions, want 1 and 5 retries", submissions)
	}
}

func TestTheCountStopsAClaimBeforeItsLastErrorIsLookedAt(t *testing.T) {
	t.Parallel()
	d := decide(t, request("DUPLICATE_CLAIM", 5))
	if d.Outcome != retry.OutcomeExhausted || d.Error.Class != retry.Permanent {
		t.Errorf("got %v, class %v; want exhausted, with the last error's class PERMANENT", d.Outcome, d.Error.Class)
	}
	if got, want := d.Reason(), "Permanent error, all 5 retries used"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
}

func TestTheNextTryIsTimedInUTCAndInTheFuture(t *testing.T) {
	t.Parallel()
	saoPaulo := time.FixedZone("-03", -3*60*60)
	late := time.Date(2025, 1, 12, 23, 59, 59, 999_999_999, saoPaulo)
	d, err := policy.BuiltIn("tiss").Decide(request("TIMEOUT", 0), late)
	if err != nil {
		t.Fatal(err)
	}
	if d.NextRetryTime.Location() != time.UTC || !d.NextRetryTime.After(late) || d.NextRetryTime.Nanosecond() != 0 {
		t.Errorf("next try at %v, want a whole second in UTC after %v", d.NextRetryTime, late)
	}
}

func TestTheTimeSinceTheLastSubmissionIsKeptAndDecidesNothing(t *testing.T) {
	t.Parallel()
	without := decide(t, request("TIMEOUT", 2))
	with := request("TIMEOUT", 2)
	with.LastSubmissionTime = now.Add(-90 * time.Second)
	d := decide(t, with)
	if d.SinceLastSubmission != 90*time.Second {
		t.Errorf("since last submission %v, want 90s", d.SinceLastSubmission)
	}
	d.SinceLastSubmission = 0
	if d != without {
		t.Errorf("the decision changed: %+v, want %+v", d, without)
	}
}

func TestARequestWithFaultsIsNotDecided(t *testing.T) {
	t.Parallel()
	d, err := policy.BuiltIn("tiss").Decide(retry.Request{ClaimID: "XYZ-1", SubmissionError: " \t\n", RetryCount: -1}, now)
	var invalid *retry.InvalidInputError
	if !errors.As(err, &invalid) || d != (retry.Decision{}) {
		t.Fatalf("got %+v, %v; want no decision and an InvalidInputError", d, err)
	}
	var variables []string
	for _, f := range invalid.Faults {
		variables = append(variables, f.Variable)
	}
	if got, want := fmt.Sprint(variables), "[claimId submissionError retryCount]"; got != want {
		t.Errorf("faults in %s, want all of %s", got, want)
	}
}
