package main

import (
	"encoding/json"
	"fmt"
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

var retryTexts = []struct{ text, class string }{
	{"TIMEOUT - Connection timeout after 30s", "TRANSIENT"},
	{"SERVICE_UNAVAILABLE: o portal da operadora respondeu HTTP 503", "TRANSIENT"},
	{"CONNECTION_ERROR: connect to ws.operadora.example:443: connection refused", "TRANSIENT"},
	{"Falha ao importar o lote: o processo terminou com o código 3", "UNKNOWN"},
}

// mixed makes n claims: 90 % are to be retried, 7 % have a permanent error and 3 % no retries left.
func mixed(n int) []claim {
	claims := make([]claim, n)
	for i := range claims {
		r := retryTexts[i%len(retryTexts)]
		claims[i] = claim{id: fmt.Sprintf("CLM-2026-%09d-1", i), text: r.text, class: r.class, retryCount: i % 5}
		switch percent := i % 100; {
		case percent >= 97:
			claims[i].retryCount, claims[i].code = 5, "MAX_RETRIES_EXCEEDED"
		case percent >= 90:
			claims[i].text, claims[i].class = "INVALID_PATIENT_DATA - número da carteira não confere com o cadastro", "PERMANENT"
			claims[i].code = "PERMANENT_ERROR"
		}
	}
	return claims
}

// variables is the claim as process variables: those that the worker reads and no others, so that it gains nothing by
// fetching only what it reads.
func (c claim) variables() string {
	text, _ := json.Marshal(map[string]any{ // texts and a number
		"claimId": c.id, "submissionError": c.text, "retryCount": c.retryCount, "lastSubmissionTime": "2026-11-20T08:30:00Z",
	})
	return string(text)
}

// check says what is wrong with the answer to the claim: the BPMN error that was thrown, "" for none, and its variables.
func (c claim) check(code, variables string) error {
	type decided struct {
		ShouldRetry                        bool
		RetryCount                         int
		ErrorClassification, OriginalError string
	}
	var got decided
	if err := json.Unmarshal([]byte(variables), &got); err != nil {
		return fmt.Errorf("claim %s: variables %.200q: %w", c.id, variables, err)
	}
	want := decided{RetryCount: c.retryCount, ErrorClassification: c.class, OriginalError: c.text}
	if c.code == "" {
		want.ShouldRetry, want.RetryCount = true, c.retryCount+1
	}
	if got != want || code != c.code {
		return fmt.Errorf("claim %s: answered %q %+v, want %q %+v", c.id, code, got, c.code, want)
	}
	return nil
}
