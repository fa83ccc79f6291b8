// Package eventstest helps to test what publishes events: records of every kind, an outbox, and one suite that
// every queue is held to.
package eventstest

import (
	"fmt"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Began is when the first record of [Samples] was decided.
var Began = time.Date(2026, 3, 2, 14, 30, 0, 123456000, time.UTC)

const stepsOf = `"steps":{"errorReceived":%q,"afterMicros":[0,40,40,40,40,41]},"executionTimeMs":0.041`

// Samples returns one record of each kind that has an event, linked, all of one claim but the rejected one, which names none.
func Samples() []audit.Record {
	const claim = "CLM-001-1234567890"
	detail := func(at time.Time, more string) string {
		return fmt.Sprintf(`{"processId":"SubmissionRetryProcess","elementId":"AnalyzeRetry",`+more+stepsOf+`}`, at.Format(time.RFC3339Nano))
	}
	first := Began.Add(-6 * time.Minute)
	records := []audit.Record{
		Scheduled(claim, Began),
		{
			Kind: audit.KindExhausted, RetryCount: 5,
			Message:   "claim CLM-001-1234567890: all 5 retries used, last error 503 (TRANSIENT); review the claim, then resubmit or abandon it",
			Variables: `{"shouldRetry":false,"retryCount":5,"maxRetries":5,"backoffMinutes":0,"nextRetryTime":null,"retryReason":"Transient error, all 5 retries used","errorClassification":"TRANSIENT","retryDecision":{"policy":"tiss","policyVersion":"c12ee571e3a0","ruleId":"transient.503","matchedCode":"503","reason":"COUNT","delayBeforeJitter":"PT0M","backoffDuration":"PT0M","with":"billing","retriesLeft":0}}`,
		},
		{
			Kind: audit.KindPermanent, RetryCount: 1,
			Message:   "claim CLM-001-1234567890: INVALID_PATIENT_DATA does not pass by itself; correct the cause, then resubmit or abandon the claim",
			Variables: `{"shouldRetry":false,"retryCount":1,"maxRetries":5,"backoffMinutes":0,"nextRetryTime":null,"retryReason":"Permanent error INVALID_PATIENT_DATA, no retry","errorClassification":"PERMANENT","retryDecision":{"policy":"tiss","policyVersion":"c12ee571e3a0","ruleId":"permanent.INVALID_PATIENT_DATA","matchedCode":"INVALID_PATIENT_DATA","reason":"PERMANENT","delayBeforeJitter":"PT0M","backoffDuration":"PT0M","with":"registration","retriesLeft":4}}`,
		},
		{
			Kind:    audit.KindRejected,
			Message: `invalid input: claimId is missing; retryCount is 9.9, must be a whole number`,
		},
		{Kind: audit.KindSubmitted, RetryCount: 2},
		{Kind: audit.KindResubmitted, RetryCount: 5},
		{Kind: audit.KindAbandoned},
		{Kind: audit.KindRedriven, RetryCount: 2},
		{Kind: audit.KindDecisionRefused, RetryCount: 5},
	}
	chain := audit.Beginning(1)
	for i := range records {
		r := &records[i]
		r.At = Began.Add(time.Duration(i) * time.Hour)
		r.Key = audit.Key{Cluster: "production", JobKey: 2251799813685300 + int64(i), ProcessInstanceKey: 2251799813685249}
		if r.Kind != audit.KindRejected {
			r.ClaimID = claim
		}
		switch r.Kind {
		case audit.KindRetry:
		case audit.KindExhausted:
			r.Detail = detail(r.At, `"submissionError":"HTTP 503 - paciente [palavras]","firstFailureTime":"`+first.Format(time.RFC3339Nano)+`",`)
		case audit.KindPermanent:
			r.Detail = detail(r.At, `"submissionError":"INVALID_PATIENT_DATA: CPF [número longo]",`)
		case audit.KindRejected:
			r.Detail = detail(r.At, "")
		case audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned, audit.KindRedriven, audit.KindDecisionRefused:
			r.Detail = `{"processId":"Sub06","elementId":"RecordOutcome","attempts":` + fmt.Sprint(r.RetryCount+1)
			if r.RetryCount > 0 {
				r.Detail += `,"firstFailureTime":"` + first.Format(time.RFC3339Nano) + `"`
			}
			if r.Kind == audit.KindRedriven {
				r.Detail += `,"justification":"a operadora confirmou que o serviço voltou","decidedBy":"maria","redriveId":"5f0c1c7e-9d0a-4f5e-8a51-0b6a3f1f8f10"`
			}
			if r.Kind == audit.KindDecisionRefused {
				r.Detail += `,"decidedBy":"maria","decisionProblem":"A decisão “Reenviar” não existe."`
			}
			r.Detail += "}"
		}
		r.ID = chain.Seq + 1
		chain.Link(r)
	}
	return records
}

// Scheduled returns a record of a retry, not linked yet.
func Scheduled(claimID string, at time.Time) audit.Record {
	return audit.Record{
		Kind: audit.KindRetry, At: at, ClaimID: claimID, RetryCount: 2,
		Key:           audit.Key{Cluster: "production", JobKey: 2251799813685300, ProcessInstanceKey: 2251799813685249},
		NextRetryTime: at.Truncate(time.Second).Add(12 * time.Minute),
		Variables:     `{"shouldRetry":true,"retryCount":2,"maxRetries":5,"backoffMinutes":12,"nextRetryTime":"2026-03-02T14:42:00Z","retryReason":"Transient error, retry 2 of 5","errorClassification":"TRANSIENT","retryDecision":{"policy":"tiss","policyVersion":"c12ee571e3a0","ruleId":"transient.TIMEOUT","matchedCode":"TIMEOUT","reason":"HINT","delayBeforeJitter":"PT10M","backoffDuration":"PT12M","bounds":["DEADLINE"],"retriesLeft":3,"hint":{"source":"TEXT","after":"PT30M"},"deadline":"2026-03-02T14:42:00Z","advice":"CHECK_STATUS","secondsSinceLastSubmission":31,"overrides":{"max":"PT60M"}}}`,
		Detail:        fmt.Sprintf(`{"processId":"SubmissionRetryProcess","elementId":"AnalyzeRetry","submissionError":"TIMEOUT, Retry-After: 1800",`+stepsOf+`}`, at.Format(time.RFC3339Nano)),
	}
}
