package worker_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/policytest"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// asked is a job that a task with headers asks, with more variables than claim and error.
type asked struct {
	headers string
	more    string
}

func (a asked) job() job.Job {
	j := newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT"` + a.more + `}`)
	j.Headers = a.headers
	return j
}

// policies returns the built-in policies and those of a list.
func policies(t *testing.T, list string) func() *policy.Set {
	t.Helper()
	set := policytest.Set(t, "policies:\n"+list)
	return func() *policy.Set { return set }
}

// decision returns the answered variables and the fields of retryDecision in one map.
func decision(t *testing.T, a job.Answer) map[string]any {
	t.Helper()
	if a.Kind == job.KindFail {
		t.Fatalf("an incident: %s", a.Message)
	}
	var variables map[string]any
	if err := json.Unmarshal([]byte(a.Variables), &variables); err != nil {
		t.Fatalf("%s: %v", a.Variables, err)
	}
	explanation, _ := variables["retryDecision"].(map[string]any)
	maps.Copy(variables, explanation)
	return variables
}

// want is what a decision must hold; it may hold more. Numbers are float64, as JSON has them; nil means absent.
type want map[string]any

func (w want) check(t *testing.T, a job.Answer) {
	t.Helper()
	got := decision(t, a)
	maps.DeleteFunc(got, func(name string, _ any) bool { _, asked := w[name]; return !asked })
	maps.DeleteFunc(w, func(name string, value any) bool { _, is := got[name]; return value == nil && !is })
	check.Same(t, map[string]any(w), got, "the decision differs")
}

// isRefused fails the test unless the job is an incident with exactly these faults: "what is wrong but must be right".
func isRefused(t *testing.T, a job.Answer, faults ...string) {
	t.Helper()
	text, _, _ := strings.Cut(a.Message, ". Correct the process variables")
	_, text, _ = strings.Cut(text, "invalid input: ")
	if diff := cmp.Diff(strings.Join(faults, "; "), text); a.Kind != job.KindFail || diff != "" {
		t.Errorf("answered %s (-want +got):\n%s", a.Kind, diff)
	}
}

// A value that is nil in want is absent from the decision.
func TestTaskHeadersOverrideNumbers(t *testing.T) {
	for name, tt := range map[string]struct {
		asked
		want want
	}{
		"headers much like ours": {asked{headers: othersHeaders}, want{"policy": "tiss", "maxRetries": 5.0, "overrides": nil}},
		"all at once": {
			asked{headers: `{"retryPolicy":"smtp","maxRetries":"2","base":"500ms","max":"2s","deadline":"PT30S","team":"admin"}`},
			want{
				"policy": "smtp", "maxRetries": 2.0, "delayBeforeJitter": "PT0.5S", "deadline": "2025-01-12T10:40:30Z",
				"overrides": map[string]any{"maxRetries": 2.0, "base": "PT0.5S", "max": "PT2S", "deadline": "PT30S"},
			},
		},
		"retryUntil, in São Paulo, pulls the last try forward": {asked{more: `,"retryCount":3,"retryUntil":"2025-01-12T07:50:30"`}, want{
			"nextRetryTime": "2025-01-12T10:50:00Z", "backoffMinutes": 10.0, "deadline": "2025-01-12T10:50:30Z", "bounds": []any{"DEADLINE"},
		}},
	} {
		t.Run(name, func(t *testing.T) { tt.want.check(t, ask(t, newMemory(), tt.job())) })
	}
}

// othersHeaders belong to other workers.
const othersHeaders = `{"case":"1","bases":"1","mask":"1","headline":"1","deadlines":"1","maxEntries":"1","maxTries":"1","retryPolicyText":"1","retryCount":"1","retry":"1","policy":"1","backoff":"1","x":"1","":"1"}`

func TestAJobsOwnLimitsChangeAPolicyThatAllowsIt(t *testing.T) {
	for more, want := range map[string]want{
		``:                     {"maxRetries": 2.0, "backoffDuration": "PT5M"},
		`,"max_attempts":1001`: {"maxRetries": 1000.0}, // the most
		`,"max_retry_delay":420000,"retryCount":1`: {"backoffDuration": "PT7M", "overrides": map[string]any{"max": "PT7M"}},
		// The example of the document.
		`,"max_attempts":5,"retry_delay":60000,"max_retry_delay":3600000,"retryCount":3`: {"maxRetries": 4.0, "backoffDuration": "PT8M", "retriesLeft": 0.0},
	} {
		t.Run(more, func(t *testing.T) {
			want["policy"] = "job-queue"
			want.check(t, ask(t, newMemory(), asked{headers: `{"retryPolicy":"job-queue"}`, more: more}.job()))
		})
	}
	own := policies(t, "  - {name: own, extends: tiss, jobOverrides: true}\n")
	isRefused(t, ask(t, newMemory(), asked{more: `,"max_retry_delay":1`}.job(), under("own", own)),
		"max_retry_delay is 1 but must be one that policy own can have: \"max\" is 1ms but must be whole units of precision, 1m",
		"max_retry_delay is 1 but must be one that policy own can have: \"max\" is 1ms but must be from 1m, the longer of min and base, to 8784h")
	// They go before the headers of the task.
	a := ask(t, newMemory(), asked{`{"retryPolicy":"job-queue","maxRetries":"9","base":"20s"}`, `,"max_attempts":3`}.job())
	want{"maxRetries": 2.0, "overrides": map[string]any{"maxRetries": 2.0, "base": "PT20S"}}.check(t, a)
}

func TestAllBadHeadersAndVariablesAreNamedAtOnce(t *testing.T) {
	j := newJob(`{"submissionError":7,"retryCount":-1,"retryUntil":"logo","max_attempts":0,"retry_delay":2.5,"max_retry_delay":"1 h"}`)
	j.Headers = `{"retryPolicy":"job-queue","maxRetries":"1001","base":"0s","max":"soon","deadline":"-1h"}`
	const duration = "a duration of more than 0, such as 500ms, 90s, 5m, 24h or PT5M"
	isRefused(t, ask(t, newMemory(), j),
		`task header maxRetries is "1001" but must be a whole number from 0 to 1000`,
		`task header base is "0s" but must be `+duration,
		`task header max is "soon" but must be `+duration,
		`task header deadline is "-1h" but must be `+duration,
		`max_attempts is 0 but must be a whole number from 1 to 1001, or absent`,
		`retry_delay is 2.5 but must be whole milliseconds, 1 or more, or absent`,
		`max_retry_delay is the text "[number] h" but must be whole milliseconds, 1 or more, or absent`,
		`claimId is missing but must be one word of letters, digits and . _ : / - that begins with a letter or a digit, at most 128 bytes`,
		`submissionError is 7 but must be the text with which the submission failed`,
		`retryCount is -1 but must be a whole number, 0 or more (absent counts as 0)`,
		`retryUntil is the text "logo" but must be an RFC 3339 time or a local date-time, from the year 2000 on, or absent`,
	)
}

const correctedModel = "deploy a corrected model and migrate the instance"

func TestABadHeaderIsAFaultAndNoSilentDefault(t *testing.T) {
	if variable := ask(t, newMemory(), newJob(`{}`)).Message; strings.Contains(variable, correctedModel) {
		t.Errorf("a variable asks for a corrected model: %s", variable)
	}
	for headers, fault := range map[string]string{
		`{"retryPolicy":"tis"}`:  `task header retryPolicy is "tis" but must be the name of a policy: fast, job-queue, rn-bil-005, smtp, smtp-dev, tiss`,
		`{"retrypolicy":"fast"}`: `task header retrypolicy is "fast" but must be named retryPolicy`,
		`{"retryPolcy":"fast"}`:  `task header retryPolcy is "fast" but must be named retryPolicy`,
		`{"maxRetries":"-1"}`:    `task header maxRetries is "-1" but must be a whole number from 0 to 1000`,
		`{"Base":"3m"}`:          `task header Base is "3m" but must be named base`,
		`{"max_retries":"3"}`:    `task header max_retries is "3" but must be named maxRetries`,
		`{"on-permanent":"x"}`:   `task header on-permanent is "x" but must be named onPermanent`,
		`{"max":"30s"}`: `task header max is "30s" but must be one that policy tiss can have: "max" is 30s but must be whole units of precision, 1m; ` +
			`task header max is "30s" but must be one that policy tiss can have: "max" is 30s but must be from 1m, the longer of min and base, to 8784h`,
		`{"retryPolicy":["fast"]}`:        `task header retryPolicy is "[\"fast\"]" but must be the name of a policy: fast, job-queue, rn-bil-005, smtp, smtp-dev, tiss`,
		`{"max":"9000h","deadline":"1h"}`: `task header max is "9000h" but must be one that policy tiss can have: "max" is 9000h but must be from 5m, the longer of min and base, to 8784h`,
		`{"onExhausted":"Billing"}`:       `task header onExhausted is "Billing" but must be a word such as billing or dead-letter: 1 to 30 of a to z and -`,
	} {
		a := ask(t, newMemory(), asked{headers: headers}.job())
		isRefused(t, a, fault)
		check.Contains(t, a.Message, correctedModel)
	}
}

func TestDecisionSaysWithWhomAStoppedClaimIs(t *testing.T) {
	const billing, registration = `"onExhausted":"billing"`, `"onPermanent":"registration"`
	longest := strings.Repeat("z-", 15)
	own := policies(t, "  - {name: own, extends: tiss, rules: [{id: own.login, class: PERMANENT, http: [401], team: network}]}\n")
	for _, tt := range []struct{ headers, more, with string }{
		{billing + "," + registration, `"submissionError":"TIMEOUT","retryCount":5`, "billing"},
		{billing + "," + registration, `"submissionError":"DUPLICATE_CLAIM"`, "registration"},
		{billing + "," + registration, `"submissionError":"TIMEOUT"`, ""},            // it goes on
		{billing + "," + registration, `"submissionError":"HTTP 401"`, "operations"}, // the rule has a team
		{registration + `,"retryPolicy":"own"`, `"submissionError":"HTTP 401"`, "network"},
		{`"onPermanent":"` + longest + `"`, `"submissionError":"DUPLICATE_CLAIM"`, longest},
	} {
		m := newMemory()
		j := newJob(`{"claimId":"CLM-001-1",` + tt.more + `}`)
		j.Headers = "{" + tt.headers + "}"
		told, _ := decision(t, ask(t, m, j, under("tiss", own)))["with"].(string)
		check.Same(t, tt.with, told, "%s with headers %s: the process is told", tt.more, tt.headers)
		check.Same(t, tt.with, m.only(t).HeldBy, "%s with headers %s: the record", tt.more, tt.headers)
	}
}

// Such a model is not told whose work it is (RN-BIL-004 section 3.2), so the trail has whom the model names.
func TestModelOfTheOlderRuleLeavesAPermanentErrorWithWhomItNames(t *testing.T) {
	m := newMemory()
	j := newJob(`{"claimId":"CLM-001-1","submissionError":"HTTP 401"}`)
	j.Headers = `{"onPermanent":"registration"}`
	ask(t, m, j, ofType(contract.BackoffJobType))
	check.Same(t, "registration", m.only(t).HeldBy, "the record")
}

func TestADeadlineCountsFromTheFirstFailureOfTheRound(t *testing.T) {
	m := newMemory()
	m.states = map[string]audit.State{"CLM-001-1": {Failures: 2, Retries: 2, FirstFailure: now.Add(-50 * time.Minute)}}
	a := ask(t, m, asked{`{"deadline":"1h"}`, `,"retryCount":2`}.job())
	want{"deadline": "2025-01-12T10:50:00Z", "backoffMinutes": 10.0}.check(t, a)
}

func TestAPolicyMayTakeAJobWithoutAnErrorText(t *testing.T) {
	known := policies(t, "  - {name: lenient, extends: tiss, onEmptyError: unknown}\n")
	for _, variables := range []string{
		`{"claimId":"CLM-001-1"}`, `{"claimId":"CLM-001-1","submissionError":null}`, `{"claimId":"CLM-001-1","submissionError":" "}`,
	} {
		want{"shouldRetry": true, "errorClassification": "UNKNOWN", "ruleId": "empty", "policy": "lenient"}.
			check(t, ask(t, newMemory(), newJob(variables), under("lenient", known)))
	}
	isRefused(t, ask(t, newMemory(), newJob(`{"claimId":"CLM-001-1","submissionError":{}}`), under("lenient", known)),
		"submissionError is an object but must be the text with which the submission failed")
}

func TestJobIDNeedsTheFormOfItsPolicyOnly(t *testing.T) {
	j := newJob(`{"claimId":"job_123","submissionError":"ECONNRESET"}`)
	check.Same(t, job.KindFail, ask(t, newMemory(), j).Kind, "answer")
	j.Headers = `{"retryPolicy":"job-queue"}`
	want{"policy": "job-queue"}.check(t, ask(t, newMemory(), j))
}
