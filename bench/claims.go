package main

import (
	"encoding/json"
	"fmt"
	"time"
)

// claim is the input of one job and the answer that is right for it. The answers are written down here, not asked of
// internal/retry: a worker that is fast because the rule is broken shall not pass.
type claim struct {
	id, text   string
	retryCount int
	class      string
	// code is the BPMN error to throw, "" where the claim is to be retried.
	code string
}

var (
	retryTexts = []struct{ text, class string }{
		{"TIMEOUT - Connection timeout after 30s", "TRANSIENT"},
		{"SERVICE_UNAVAILABLE: o portal da operadora respondeu HTTP 503", "TRANSIENT"},
		{"CONNECTION_ERROR: connect to ws.operadora.example:443: connection refused", "TRANSIENT"},
		{"Falha ao importar o lote: o processo terminou com o código 3", "UNKNOWN"},
	}
	permanentText = "INVALID_PATIENT_DATA - número da carteira não confere com o cadastro"

	// bands are the minutes that the schedule of RN-BIL-005 allows, by retry count.
	bands = [][2]int{{5, 6}, {8, 12}, {16, 24}, {32, 48}, {64, 96}}
)

const maxRetries = 5

// claimID is the id of a claim by its number, from 0. Ids grow with time, as those of a hospital do.
func claimID(number int) string { return fmt.Sprintf("CLM-2026-%09d-1", number) }

// mixed makes n claims, the ones after so many others: 90 % are to be retried, 7 % have a permanent error and 3 % no
// retries left.
func mixed(after, n int) []claim {
	claims := make([]claim, n)
	for i := range claims {
		r := retryTexts[i%len(retryTexts)]
		claims[i] = claim{id: claimID(after + i), text: r.text, class: r.class, retryCount: i % maxRetries}
		switch percent := i % 100; {
		case percent >= 97:
			claims[i].retryCount, claims[i].code = maxRetries, "MAX_RETRIES_EXCEEDED"
		case percent >= 90:
			claims[i].text, claims[i].class, claims[i].code = permanentText, "PERMANENT", "PERMANENT_ERROR"
		}
	}
	return claims
}

// variables is the claim as process variables: those that the worker reads and no others, so that it gains nothing by
// fetching only what it reads.
func (c claim) variables() string {
	text, err := json.Marshal(map[string]any{
		"claimId": c.id, "submissionError": c.text, "retryCount": c.retryCount, "lastSubmissionTime": "2026-11-20T08:30:00Z",
	})
	if err != nil {
		panic(err) // texts and a number
	}
	return string(text)
}

// answer is what a worker answered to a job.
type answer struct {
	// code is the BPMN error that was thrown, "" where the job was completed.
	code string
	// variables is the JSON object that came with it.
	variables string
	// at is when it was seen, at most tolerance after it was given.
	at        time.Time
	tolerance time.Duration
}

// decided are the variables of an answer that are checked.
type decided struct {
	ShouldRetry         bool
	RetryCount          int
	MaxRetries          int
	BackoffMinutes      int
	NextRetryTime       *time.Time
	ErrorClassification string
	OriginalError       string
}

// check says what is wrong with the answer to the claim.
func (c claim) check(a answer) error {
	if a.code != c.code {
		return fmt.Errorf("claim %s: answered with BPMN error %q, want %q", c.id, a.code, c.code)
	}
	var got decided
	if err := json.Unmarshal([]byte(a.variables), &got); err != nil {
		return fmt.Errorf("claim %s: variables %.200q: %w", c.id, a.variables, err)
	}
	want := decided{RetryCount: c.retryCount, MaxRetries: maxRetries, ErrorClassification: c.class, OriginalError: c.text}
	var shortest, longest int
	if c.code == "" {
		want.ShouldRetry = true
		want.RetryCount++
		shortest, longest = bands[c.retryCount][0], bands[c.retryCount][1]
	}
	if got.BackoffMinutes < shortest || got.BackoffMinutes > longest {
		return fmt.Errorf("claim %s: waits %d min, want %d..%d", c.id, got.BackoffMinutes, shortest, longest)
	}
	if (got.NextRetryTime != nil) != want.ShouldRetry {
		return fmt.Errorf("claim %s: next retry at %v", c.id, got.NextRetryTime)
	}
	if got.NextRetryTime != nil {
		expected := a.at.Add(time.Duration(got.BackoffMinutes) * time.Minute)
		if off := got.NextRetryTime.Sub(expected).Abs(); off > a.tolerance {
			return fmt.Errorf("claim %s: next retry at %v, %v off", c.id, got.NextRetryTime, off)
		}
	}
	want.BackoffMinutes, want.NextRetryTime = got.BackoffMinutes, got.NextRetryTime
	if got != want {
		return fmt.Errorf("claim %s: answered %+v, want %+v", c.id, got, want)
	}
	return nil
}
