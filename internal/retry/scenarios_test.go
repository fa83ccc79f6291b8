package retry_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
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
	return policy.BuiltIn("tiss").Decide(r, now)
}

// summary is a decision in a line: "RETRY TRANSIENT, count 2: Transient error, retry 2 of 5".
func summary(d retry.Decision) string {
	return fmt.Sprintf("%s %s, count %d: %s", d.Outcome, d.Error.Class, d.RetryCount, d.Reason())
}

// The test scenarios that section 13.5 of each rule lists, by name. The bands of the backoff are in
// [TestSchedule], the classes of the known errors in the corpus. RN-BIL-005 section 9.2 stops the fifth submission
// with "4 >= 5"; the limit of section 2.1 holds instead, so that a claim is submitted six times at most.
func TestScenariosOfTheRules(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		retryCount int
		want       string
	}{
		{"005-1 transient error schedules a retry", "TIMEOUT - Connection timeout after 30s", 1, "RETRY TRANSIENT, count 2: Transient error, retry 2 of 5"},
		{"005-2 maximum of retries exceeded", "TIMEOUT", 5, "MAX_RETRIES_EXCEEDED TRANSIENT, count 5: Transient error, all 5 retries used"},
		{"005-3 permanent error detected", "INVALID_PATIENT_DATA - CPF inválido", 0, "PERMANENT_ERROR PERMANENT, count 0: Permanent error INVALID_PATIENT_DATA, no retry"},
		{"005-7 unknown error handled", "ORA-01403 no data found", 1, "RETRY UNKNOWN, count 2: Unknown error, retry 2 of 5"},
		{"004-1 transient error SERVICE_UNAVAILABLE", "SERVICE_UNAVAILABLE", 0, "RETRY TRANSIENT, count 1: Transient error, retry 1 of 5"},
		{"004-2 permanent error INVALID_PROCEDURE_CODE", "INVALID_PROCEDURE_CODE", 0, "PERMANENT_ERROR PERMANENT, count 0: Permanent error INVALID_PROCEDURE_CODE, no retry"},
		{"004-3 unknown error is retried to be safe", "erro desconhecido", 0, "RETRY UNKNOWN, count 1: Unknown error, retry 1 of 5"},
		{"004-6 maximum of 5 retries", "TIMEOUT", 4, "RETRY TRANSIENT, count 5: Transient error, retry 5 of 5"},
		// V1 goes before V2.
		{"the count stops a claim before its last error is looked at", "DUPLICATE_CLAIM", 5, "MAX_RETRIES_EXCEEDED PERMANENT, count 5: Permanent error, all 5 retries used"},
	} {
		d := decide(t, request(tt.text, tt.retryCount))
		if got := summary(d); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if again := decide(t, request(tt.text, tt.retryCount)); !reflect.DeepEqual(d, again) { // 005-8: idempotent
			t.Errorf("%s: %+v, asked twice %+v", tt.name, d, again)
		}
		if d.Outcome == retry.OutcomeRetry && !d.NextRetryTime.Equal(now.Add(d.Backoff)) {
			t.Errorf("%s: next retry at %v, want %v", tt.name, d.NextRetryTime, now.Add(d.Backoff))
		}
	}
}
