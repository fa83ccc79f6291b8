package main

import (
	"encoding/json"
	"fmt"
)

// claim is the input of one job and the answer that is right for it. The answers are written down here, not asked of
// internal/retry: a worker that is fast because the rule is broken shall not pass.
type claim struct {
	jobType    string
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

// mixed makes n claims behind so many of the past: 90 % are to be retried, 7 % have a permanent error and 3 % no retries left.
// Every second one was there in the past already, as far as that goes. A hospital's numbers do not come in their order.
func mixed(past, n int) []claim {
	claims := make([]claim, n)
	for i := range claims {
		r, number := retryTexts[i%len(retryTexts)], past+i
		if i%2 == 1 && i < past {
			number = i * (past / n)
		}
		claims[i] = claim{jobType: decisionJob, id: fmt.Sprintf("CLM-2026-%09d-1", number*618_033_989%1_000_000_000), text: r.text, class: r.class, retryCount: i % 5}
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

// past returns n claims that failed, and those of them that were accepted afterwards: 19 of 20.
func past(n int) (phases [][]claim) {
	failed, accepted := mixed(0, n), []claim{}
	for i, c := range failed {
		if i%20 != 0 {
			accepted = append(accepted, claim{jobType: outcomeJob, id: c.id})
		}
	}
	return [][]claim{failed, accepted}
}

// variables is the claim as process variables: those that the worker reads and no others, so that it gains nothing by
// fetching only what it reads.
func (c claim) variables() string {
	text, _ := json.Marshal(map[string]any{ // texts and a number
		"claimId": c.id, "outcome": "SUBMITTED", "submissionError": c.text, "retryCount": c.retryCount, "lastSubmissionTime": "2026-11-20T08:30:00Z",
	})
	return string(text)
}

// check says what is wrong with the answer to the claim: the BPMN error that was thrown, "" for none, and its variables.
func (c claim) check(code, variables string) error {
	if c.jobType == outcomeJob {
		return nil
	}
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
