package worker_test

import (
	"fmt"
	"testing"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/worker"
)

// inputs is by what a job's question is known again.
func inputs(t *testing.T, known func() *policy.Set, headers, variables string) string {
	t.Helper()
	m := newMemory()
	o := optionsOn(m, &counts{}, atNow, zap.NewNop())
	o.Policies = known
	j := newJob(variables)
	j.Headers = headers
	worker.NewHandler(o).Handle(t.Context(), []job.Job{j})
	return fmt.Sprintf("%x", m.only(t).Inputs)
}

func TestEachNewVariableMakesAnotherQuestion(t *testing.T) {
	seen := map[string]string{}
	for _, more := range []string{
		``, `,"retryUntil":"2025-01-12T12:00:00Z"`, `,"retryAfter":"soon"`, `,"retryAfter":"sooner"`, `,"retryAfter":60`, `,"retryAfter":61`, `,"max_attempts":60`, `,"retry_delay":60`,
		`,"max_retry_delay":60`, `,"retry_delay":60,"max_retry_delay":60`,
	} {
		sum := inputs(t, policy.BuiltIns, "", asked{more: more}.job().Variables)
		if other, is := seen[sum]; is {
			t.Errorf("%q and %q are one question", more, other)
		}
		seen[sum] = more
	}
}

func TestOtherPoliciesMakeAnotherQuestionOfAFaultyJobOnly(t *testing.T) {
	added := policies(t, "  - {name: night, extends: tiss}\n")
	for name, c := range map[string]struct {
		headers, more string
		another       bool
	}{
		"a policy that is not known":       {headers: `{"retryPolicy":"late"}`, another: true},
		"a bad number":                     {headers: `{"base":"soon"}`, another: true},
		"a number that the policy refuses": {headers: `{"max":"30s"}`, another: true},
		"a bad number and a bad variable":  {headers: `{"base":"soon"}`, more: `,"retryCount":-1`, another: true},
		"a bad variable":                   {headers: `{"retryPolicy":"fast"}`, more: `,"retryCount":-1`, another: true},
		"nothing":                          {headers: `{"retryPolicy":"fast","base":"2s"}`},
		"nothing, and no header either":    {},
	} {
		variables := asked{more: c.more}.job().Variables
		before, after := inputs(t, policy.BuiltIns, c.headers, variables), inputs(t, added, c.headers, variables)
		if (before != after) != c.another {
			t.Errorf("%s is wrong: another question: %v, want %v", name, before != after, c.another)
		}
	}
}
