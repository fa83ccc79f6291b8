package events_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

// decidedBy is the record of a real decision, as the worker's older job type writes it or the other one.
func decidedBy(t *testing.T, policyName string, o retry.Overrides, r retry.Request) audit.Record {
	t.Helper()
	p, err := policy.BuiltIn(policyName).With(o)
	check.Must(t, err)
	d, err := p.Decide(r, eventstest.Began)
	check.Must(t, err)
	record := eventstest.Scheduled(r.ClaimID, eventstest.Began)
	record.Kind = audit.KindOf(d.Outcome)
	record.NextRetryTime = d.NextRetryTime
	decision := contract.Of(&d, contract.JobType)
	record.Variables, _ = contract.Encode(contract.JobType, &decision, &contract.Detail{})
	audit.NewChain(1).Link(&record)
	return record
}

func TestEventOfARealDecisionShowsItsReason(t *testing.T) {
	until := eventstest.Began.Add(20 * time.Minute)
	three := 3
	for what, test := range map[string]struct {
		policy    string
		overrides retry.Overrides
		request   retry.Request
		kind      string
		want      string // part of the event
	}{
		"the policy's own wait": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "weird"},
			kind: events.TypeScheduled, want: `"ruleId":"unknown","reason":"BACKOFF",`,
		},
		"a hint": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", RetryAfter: retry.Hint{Source: retry.HintVariable, Until: until}},
			kind: events.TypeScheduled, want: `"reason":"HINT","hint":{"source":"VARIABLE","until":"2026-03-02T14:50:00Z"}`,
		},
		"variables that were ignored": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", Ignored: retry.Ignored{RetryAfter: retry.IgnoredUnreadable, LastSubmissionTime: retry.IgnoredYear}},
			kind: events.TypeScheduled, want: `"ignored":[{"variable":"lastSubmissionTime","reason":"YEAR"},{"variable":"retryAfter","reason":"UNREADABLE"}]`,
		},
		"a variable that was ignored before a stop": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "DUPLICATE_CLAIM", Ignored: retry.Ignored{RetryAfter: retry.IgnoredType}},
			kind: events.TypePermanentError, want: `"ignored":[{"variable":"retryAfter","reason":"TYPE"}]`,
		},
		"a deadline that pulls forward": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", RetryCount: 3, RetryUntil: until},
			kind: events.TypeScheduled, want: `"bounds":["DEADLINE"]`,
		},
		"a deadline that stops": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", RetryUntil: eventstest.Began.Add(time.Minute)},
			kind: events.TypeMaxRetriesExceeded, want: `"reason":"DEADLINE","deadline":"2026-03-02T14:31:00Z"`,
		},
		"a count that is used up": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", RetryCount: 5},
			kind: events.TypeMaxRetriesExceeded, want: `"reason":"COUNT"`,
		},
		"a claim that may have arrived": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "DUPLICATE_CLAIM"},
			kind: events.TypePermanentError, want: `"advice":"CHECK_STATUS"`,
		},
		"a permanent error without a code": {
			policy: "smtp", request: retry.Request{ClaimID: "mail/7", SubmissionError: "weird"},
			kind: events.TypePermanentError, want: `"errorType":"unknown"`,
		},
		"a job with overrides and waits of milliseconds": {
			policy: "job-queue", overrides: retry.Overrides{MaxRetries: &three, Base: 1250 * time.Millisecond, Max: time.Minute},
			request: retry.Request{ClaimID: "JOB-1", SubmissionError: "boom"},
			kind:    events.TypeScheduled, want: `"overrides":{"maxRetries":3,"base":"PT1.25S","max":"PT1M"}`,
		},
		"a wait of milliseconds with jitter": {
			policy: "smtp", request: retry.Request{ClaimID: "mail:8", SubmissionError: "421 later"},
			kind: events.TypeScheduled, want: `"backoffMinutes":1,"backoffDuration":"PT`,
		},
	} {
		record := decidedBy(t, test.policy, test.overrides, test.request)
		event := fromRecord(t, &record)
		fits(t, event)
		if event.Type != test.kind || !strings.Contains(string(event.JSON), test.want) {
			t.Errorf("%s: %q is not in the %s %s", what, test.want, event.Type, event.JSON)
		}
	}
}

func TestTheSchemasKnowEveryReasonToIgnoreAVariable(t *testing.T) {
	for _, reason := range []retry.IgnoredReason{retry.IgnoredType, retry.IgnoredUnreadable, retry.IgnoredAmbiguous, retry.IgnoredNegative, retry.IgnoredYear} {
		for text, count := range map[string]int{"503": 0, "DUPLICATE_CLAIM": 0, "504": 5} { // one of each kind
			record := decidedBy(t, "tiss", retry.Overrides{}, retry.Request{
				ClaimID: "CLM-1-1", SubmissionError: text, RetryCount: count, Ignored: retry.Ignored{RetryAfter: reason, LastSubmissionTime: reason},
			})
			fits(t, fromRecord(t, &record))
		}
	}
}

// The older job type answers with less; the rest lies in the detail.
func TestEventDoesNotDependOnWhereTheExplanationIsKept(t *testing.T) {
	record := decidedBy(t, "tiss", retry.Overrides{}, retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503 Retry-After: 900"})
	want := dataOf(t, &record)
	var variables, detail map[string]json.RawMessage
	for from, into := range map[*string]*map[string]json.RawMessage{&record.Variables: &variables, &record.Detail: &detail} {
		check.Must(t, json.Unmarshal([]byte(*from), into))
	}
	for _, name := range []string{"maxRetries", "errorClassification", "retryDecision"} {
		detail[name] = variables[name]
		delete(variables, name)
	}
	record.Variables, record.Detail = text(variables), text(detail)
	check.Same(t, want, dataOf(t, &record), "text")
}

// dataOf is an event's data without its place in the audit log.
func dataOf(t *testing.T, r *audit.Record) string {
	t.Helper()
	var event struct{ Data map[string]any }
	check.Must(t, json.Unmarshal(fromRecord(t, r).JSON, &event))
	delete(event.Data, "audit")
	return text(event.Data)
}

func TestEventOfAnOlderRecordLeavesOutWhatItLacks(t *testing.T) {
	newer := []string{"reason", "hint", "deadline", "advice", "bounds", "overrides", "ignored"}
	for _, r := range eventstest.Samples() {
		if !r.Kind.IsDecision() {
			continue
		}
		var facts map[string]any
		check.Must(t, json.Unmarshal([]byte(r.Variables), &facts))
		for _, name := range newer {
			delete(facts["retryDecision"].(map[string]any), name)
		}
		r.Variables = text(facts)
		for name := range fits(t, fromRecord(t, &r)).(map[string]any)["data"].(map[string]any) {
			if slices.Contains(newer, name) {
				t.Errorf("%s has %s, which its record does not know", r.Kind, name)
			}
		}
	}
}

func TestASchemaRefusesAnIDThatNoPolicyTakes(t *testing.T) {
	event := fromRecord(t, &eventstest.Samples()[0])
	for id, want := range map[string]bool{"JOB-1": true, "CLM-1-1": true, "a b": false, "-1": false, "maria@example.org": false, "": false} {
		schema, _ := schema(t, event.Type)
		changed := parse(t, event.JSON).(map[string]any)
		changed["subject"], changed["data"].(map[string]any)["claimId"] = id, id
		if got := schema.Validate(changed) == nil; got != want || retry.ValidID(id) != want {
			t.Errorf("%q: the schema says %t, the rule %t, want %t", id, got, retry.ValidID(id), want)
		}
	}
}
