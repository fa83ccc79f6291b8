package input_test

import (
	"fmt"
	"testing"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/policytest"
	"hospital.example/analyze-retry/internal/worker/input"
)

// question is by what a job is known again.
func question(known *policy.Set, headers, more string) string {
	variables := `{"claimId":"CLM-001-1","submissionError":"TIMEOUT"` + more + `}`
	return fmt.Sprintf("%q", input.ReadDecision(&job.Job{Headers: headers, Variables: variables}, known, "tiss").Identity)
}

func TestEachNewVariableMakesAnotherQuestion(t *testing.T) {
	seen := map[string]string{}
	for _, more := range []string{
		``, `,"retryUntil":"2025-01-12T12:00:00Z"`, `,"retryAfter":"soon"`, `,"retryAfter":"sooner"`, `,"retryAfter":60`, `,"retryAfter":61`, `,"max_attempts":60`, `,"retry_delay":60`,
		`,"max_retry_delay":60`, `,"retry_delay":60,"max_retry_delay":60`,
	} {
		asked := question(policy.BuiltIns(), "", more)
		if other, is := seen[asked]; is {
			t.Errorf("%q and %q are one question", more, other)
		}
		seen[asked] = more
	}
}

func TestOtherPoliciesMakeAnotherQuestionOfAFaultyJobOnly(t *testing.T) {
	added := policytest.Set(t, "policies: [{name: night, extends: tiss}]")
	for _, c := range []struct {
		headers, more string
		another       bool
	}{
		{headers: `{"retryPolicy":"late"}`, another: true}, // not known
		{headers: `{"max":"30s"}`, another: true},          // the policy refuses it
		{headers: `{"retryPolicy":"fast"}`, more: `,"retryCount":-1`, another: true},
		{headers: `{"retryPolicy":"fast","base":"2s"}`},
		{},
	} {
		another := question(policy.BuiltIns(), c.headers, c.more) != question(added, c.headers, c.more)
		check.Same(t, c.another, another, "another question: headers %s, variables %s", c.headers, c.more)
	}
}
