package worker_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker"
	"hospital.example/analyze-retry/internal/worker/contract"
)

var now = time.Date(2025, 1, 12, 10, 40, 0, 0, time.UTC)

// counts is an Observer that counts.
type counts struct {
	decided, rejected, repeated int
	outcomes                    []audit.Kind
}

func (c *counts) Decided(string, retry.Decision, time.Duration) { c.decided++ }
func (c *counts) Rejected(string, time.Duration)                { c.rejected++ }
func (c *counts) Repeated()                                     { c.repeated++ }
func (c *counts) OutcomeRecorded(r *audit.Record)               { c.outcomes = append(c.outcomes, r.Kind) }

// option changes the options of a handler.
type option = func(*worker.Worker)

func ofType(jobType string) option { return func(o *worker.Worker) { o.JobType = jobType } }
func countedBy(c *counts) option   { return func(o *worker.Worker) { o.Observer = c } }

func loggedTo(core zapcore.Core) option {
	return func(o *worker.Worker) { o.Logger = zap.New(core) }
}

func by(clock func() time.Time) option { return func(o *worker.Worker) { o.Now = clock } }

// under is the policy of the job type, one of the known ones.
func under(name string, known func() *policy.Set) option {
	return func(o *worker.Worker) { o.JobTypes, o.Policies = map[string]string{o.JobType: name}, known }
}

// optionsOn are those of a worker whose clock stands at now.
func optionsOn(m *memory, changes ...option) worker.Worker {
	o := worker.Worker{
		JobType: contract.JobType, JobTypes: map[string]string{contract.JobType: "tiss", contract.BackoffJobType: "tiss"},
		Policies: policy.BuiltIns, Recorder: audit.NewRecorder(m, zap.NewNop(), func() {}), Secret: secret, Cluster: "test",
		Now: func() time.Time { return now }, Observer: &counts{}, Logger: zap.NewNop(),
	}
	for _, change := range changes {
		change(&o)
	}
	return o
}

// ask has one job decided.
func ask(t *testing.T, m *memory, j job.Job, changes ...option) job.Answer {
	t.Helper()
	return optionsOn(m, changes...).Decide(t.Context(), []job.Job{j})[0]
}

func newJob(variables string) job.Job {
	return job.Job{
		Key: 4711, ProcessInstanceKey: 2251799813685249, ElementID: "Task_AnalyzeRetry", Retries: 3,
		Variables: variables, Received: now,
	}
}

// jobWith returns the variables of a job with this error text.
func jobWith(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text can be marshalled
	}
	return `{"claimId":"CLM-001-1","submissionError":` + string(quoted) + `}`
}

func checkVariables(t *testing.T, got job.Answer, want string) {
	t.Helper()
	var gotJSON, wantJSON any
	if err := json.Unmarshal([]byte(got.Variables), &gotJSON); err != nil {
		t.Fatalf("%s: %v", got.Variables, err)
	}
	check.Must(t, json.Unmarshal([]byte(want), &wantJSON))
	check.Same(t, wantJSON, gotJSON, "variables")
}

func TestDecisionIsAnsweredWithTheAgreedNames(t *testing.T) {
	tests := map[string]struct {
		kind          job.Kind
		code, message string
		variables     string
	}{
		// The local time is read in São Paulo, three hours behind UTC.
		`{"claimId":"CLM-001-1234567890","submissionError":"TIMEOUT - Connection timeout after 30s","retryCount":1,"lastSubmissionTime":"2025-01-12T07:39:30"}`: {job.KindComplete, "", "", `{
			"shouldRetry": true, "retryCount": 2, "maxRetries": 5, "backoffMinutes": 12, "nextRetryTime": "2025-01-12T10:52:00Z",
			"retryReason": "Transient error, retry 2 of 5", "errorClassification": "TRANSIENT",
			"originalError": "TIMEOUT - Connection timeout after 30s",
			"retryDecision": {
				"policy": "tiss", "policyVersion": "VERSION", "ruleId": "transient.TIMEOUT", "matchedCode": "TIMEOUT",
				"reason": "BACKOFF", "advice": "CHECK_STATUS",
				"delayBeforeJitter": "PT10M", "backoffDuration": "PT12M", "retriesLeft": 3, "secondsSinceLastSubmission": 30}}`},
		`{"claimId":"CLM-001-1234567890","submissionError":"???"}`: {job.KindComplete, "", "", `{
			"shouldRetry": true, "retryCount": 1, "maxRetries": 5, "backoffMinutes": 5, "nextRetryTime": "2025-01-12T10:45:00Z",
			"retryReason": "Unknown error, retry 1 of 5", "errorClassification": "UNKNOWN", "originalError": "???",
			"retryDecision": {
				"policy": "tiss", "policyVersion": "VERSION", "ruleId": "unknown", "matchedCode": "", "reason": "BACKOFF",
				"delayBeforeJitter": "PT5M", "backoffDuration": "PT5M", "bounds": ["MIN"], "retriesLeft": 4}}`},
		`{"claimId":"CLM-001-1","submissionError":"INVALID_PATIENT_DATA - CPF 123.456.789-09","retryCount":2}`: {
			job.KindThrowError, "PERMANENT_ERROR",
			"claim CLM-001-1: INVALID_PATIENT_DATA does not pass by itself; correct the cause, then resubmit or abandon the claim", `{
			"shouldRetry": false, "retryCount": 2, "maxRetries": 5, "backoffMinutes": 0, "nextRetryTime": null,
			"retryReason": "Permanent error INVALID_PATIENT_DATA, no retry", "errorClassification": "PERMANENT",
			"originalError": "INVALID_PATIENT_DATA - CPF 123.456.789-09",
			"retryDecision": {
				"policy": "tiss", "policyVersion": "VERSION", "ruleId": "permanent.INVALID_PATIENT_DATA", "matchedCode": "INVALID_PATIENT_DATA",
				"reason": "PERMANENT",
				"delayBeforeJitter": "PT0M", "backoffDuration": "PT0M", "retriesLeft": 3}}`,
		},
		`{"claimId":"CLM-001-1","submissionError":"HTTP 503","retryCount":5}`: {
			job.KindThrowError, "MAX_RETRIES_EXCEEDED",
			"claim CLM-001-1: all 5 retries used, last error 503 (TRANSIENT); review the claim, then resubmit or abandon it", `{
			"shouldRetry": false, "retryCount": 5, "maxRetries": 5, "backoffMinutes": 0, "nextRetryTime": null,
			"retryReason": "Transient error, all 5 retries used", "errorClassification": "TRANSIENT", "originalError": "HTTP 503",
			"retryDecision": {
				"policy": "tiss", "policyVersion": "VERSION", "ruleId": "transient.503", "matchedCode": "503", "reason": "COUNT",
				"delayBeforeJitter": "PT0M", "backoffDuration": "PT0M", "retriesLeft": 0}}`,
		},
	}
	for variables, want := range tests {
		got := ask(t, newMemory(), newJob(variables))
		if got.Kind != want.kind || got.Code != want.code || got.Message != want.message {
			t.Errorf("%s: answered %s %q %q, want %s %q %q", variables, got.Kind, got.Code, got.Message, want.kind, want.code, want.message)
		}
		checkVariables(t, got, strings.Replace(want.variables, "VERSION", policy.BuiltIn("tiss").Version(), 1))
	}
}

func TestAnIncidentNamesAllFaultsAndRepeatsNoPersonalData(t *testing.T) {
	m := newMemory()
	got := ask(t, m, newJob(
		`{"claimId":"Maria 123.456.789-09","submissionError":["TIMEOUT"],"retryCount":12345678909,"retryUntil":"ontem","lastSubmissionTime":"ontem"}`))
	check.Same(t, "", m.only(t).ClaimID, "the claim in the trail")
	const want = `INVALID_ERROR_MESSAGE: invalid input: ` +
		`claimId is the text "[word] [long number]" but must be a text that matches CLM-<any>-<digits> on one line, without control characters, at most 128 bytes; ` +
		`submissionError is a list but must be the text with which the submission failed; ` +
		`retryCount is a number of 11 characters but must be a whole number, 0 or more (absent counts as 0); ` +
		`retryUntil is the text "ontem" but must be an RFC 3339 time or a local date-time, from the year 2000 on, or absent. ` +
		`Correct the process variables, then resolve the incident`
	check.Same(t, want, got.Message, "text")
	// Only short numbers are shown.
	got = ask(t, newMemory(), newJob(`{"claimId":33445566,"submissionError":"TIMEOUT","retryCount":-2.5,"retryUntil":19800512}`))
	check.Contains(t, got.Message, "claimId is a number of 8 characters", "retryCount is -2.5", "retryUntil is a number of 8 characters")
}

func TestLongErrorIsEchoedUpTo8KiBWithAMark(t *testing.T) {
	const special = "a\x00b\u202ec\"d\\e\nf\u2028g💥</script>"
	for text, want := range map[string]string{
		special: special,
		// The limit falls into the middle of the two-byte "é".
		strings.Repeat("x", 8<<10-1) + "é" + strings.Repeat("y", 1000): strings.Repeat("x", 8<<10-1) + " [cut at 8 KiB, was 9193 bytes]",
	} {
		check.Same[any](t, want, decision(t, ask(t, newMemory(), newJob(jobWith(text))))["originalError"], "text")
	}
}

func TestDecisionIsOneLogLineWithoutTheErrorText(t *testing.T) {
	const claim, person = `{"claimId":"CLM-001-1","submissionError":`, "CPF 12345678909"
	for i, tt := range []struct {
		jobType, variables string
		level              zapcore.Level
		event, code        string
	}{
		{contract.JobType, claim + `"TIMEOUT ` + person + `","retryCount":1}`, zap.InfoLevel, "retry_scheduled", "TIMEOUT"},
		{contract.BackoffJobType, claim + `"TIMEOUT ` + person + `"}`, zap.InfoLevel, "submission_retry_scheduled", "TIMEOUT"},
		{contract.JobType, claim + `"` + person + `"}`, zap.WarnLevel, "retry_scheduled", ""}, // unknown
		{contract.JobType, claim + `"DUPLICATE_CLAIM ` + person + `"}`, zap.WarnLevel, "permanent_error_detected", "DUPLICATE_CLAIM"},
		{contract.JobType, claim + `"TIMEOUT ` + person + `","retryCount":5}`, zap.ErrorLevel, "max_retries_exceeded", "TIMEOUT"},
	} {
		core, logs := observer.New(zap.DebugLevel)
		ask(t, newMemory(), newJob(tt.variables), ofType(tt.jobType), loggedTo(core))
		if logs.Len() != 1 {
			t.Fatalf("%s: %d log lines, want 1", tt.variables, logs.Len())
		}
		line := logs.All()[0]
		fields := line.ContextMap()
		check.Same(t, []any{tt.level, tt.event, tt.code}, []any{line.Level, line.Message, fields["submissionError"]}, "line of %s", tt.variables)
		if strings.Contains(fmt.Sprint(fields), "12345678909") {
			t.Errorf("%s: logged %v", tt.variables, fields)
		}
		if i == 0 {
			check.Same(t, map[string]any{
				"claimId": "CLM-001-1", "submissionError": "TIMEOUT", "errorClassification": "TRANSIENT", "retryCount": 2, "maxRetries": 5, "backoffMinutes": 12,
				"nextRetryTime": "2025-01-12T10:52:00Z", "policy": "tiss", "ruleId": "transient.TIMEOUT", "executionTimeMs": 0.0,
				"jobKey": int64(4711), "processInstanceKey": int64(2251799813685249),
			}, fields, "fields")
		}
	}
}

func TestARejectedInputIsLoggedWithItsClaim(t *testing.T) {
	for id, want := range map[string]string{"CLM-001-1": "CLM-001-1", "Maria": ""} {
		core, logs := observer.New(zap.DebugLevel)
		ask(t, newMemory(), newJob(`{"claimId":"`+id+`","submissionError":"TIMEOUT","retryCount":2.5}`), loggedTo(core))
		line := logs.All()[0]
		check.Same(t, []any{"input_rejected", want}, []any{line.Message, line.ContextMap()["claimId"]}, "line of %s", id)
	}
}

func TestAnIgnoredVariableIsLoggedByItsShape(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	j := newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryAfter":"Maria 707","lastSubmissionTime":[1]}`)
	a := ask(t, newMemory(), j, loggedTo(core))
	check.Same[any](t, []any{"lastSubmissionTime", "retryAfter"}, decision(t, a)["ignored"], "ignored, as answered")
	lines := logs.FilterMessage("input_ignored").All()
	if len(lines) != 2 || logs.Len() != 3 {
		t.Fatalf("%d lines, %d of them about ignored variables, want 3 and 2", logs.Len(), len(lines))
	}
	for i, want := range []map[string]any{
		{"variable": "lastSubmissionTime", "value": "a list"},
		{"variable": "retryAfter", "value": `the text "[word] [number]"`},
	} {
		got := lines[i].ContextMap()
		if got["claimId"] != "CLM-001-1" || got["jobKey"] != int64(4711) || lines[i].Level != zap.WarnLevel {
			t.Errorf("%s %v", lines[i].Level, got)
		}
		for name, value := range want {
			check.Same(t, value, got[name], "%s", name)
		}
	}
}
