package worker_test

import (
	"encoding/json"
	"testing"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker/contract"
)

func TestRNBil004AnswersItsFiveNamesAndNoOther(t *testing.T) {
	const retried = `{"shouldRetry": true, "nextRetryTime": "2025-01-12T10:52:00Z", "retryCount": 2, "retryReason": "Retry 2 of 5", "backoffMinutes": 12}`
	for variables, want := range map[string]struct{ code, variables string }{
		`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":1}`: {"", retried},
		`{"claimId":"CLM-001-1","submissionError":"???","retryCount":1}`:     {"", retried},
		`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":5}`: {"MAX_RETRIES_EXCEEDED", `{
			"shouldRetry": false, "nextRetryTime": null, "retryCount": 5, "retryReason": "Transient error, all 5 retries used", "backoffMinutes": 0}`},
		`{"claimId":"CLM-001-1","submissionError":"DUPLICATE_CLAIM"}`: {"PERMANENT_ERROR", `{
			"shouldRetry": false, "nextRetryTime": null, "retryCount": 0, "retryReason": "Permanent error DUPLICATE_CLAIM, no retry", "backoffMinutes": 0}`},
	} {
		a := ask(t, newMemory(), newJob(variables), ofType(contract.BackoffJobType))
		checkVariables(t, a, want.variables)
		if a.Code != want.code || (a.Kind == job.KindThrowError) != (want.code != "") {
			t.Errorf("%s: answered %s %q, want %q", variables, a.Kind, a.Code, want.code)
		}
	}
}

// The order is a part of the contract, because stored answers are compared by their bytes.
func TestExplanationHasItsNamesInOrderAndNoEmptyOnes(t *testing.T) {
	j := asked{`{"deadline":"1h","base":"6m"}`, `,"retryCount":4,"retryAfter":7200,"lastSubmissionTime":"2025-01-12T10:39:00Z"`}.job()
	const want = `"reason":"HINT","delayBeforeJitter":"PT96M","backoffDuration":"PT60M","bounds":["DEADLINE"],"retriesLeft":0,` +
		`"hint":{"source":"VARIABLE","after":"PT120M"},"deadline":"2025-01-12T11:40:00Z","advice":"CHECK_STATUS","secondsSinceLastSubmission":60,` +
		`"overrides":{"base":"PT6M","deadline":"PT60M"}}`
	var variables struct{ RetryDecision json.RawMessage }
	check.Must(t, json.Unmarshal([]byte(ask(t, newMemory(), j).Variables), &variables))
	if text := string(variables.RetryDecision); len(text) < len(want) || text[len(text)-len(want):] != want {
		t.Errorf("got  %s\nwant ... %s", text, want)
	}
}
