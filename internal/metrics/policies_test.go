package metrics_test

import (
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

func TestAReplacedPolicyIsNotShownAsInForce(t *testing.T) {
	reg, m := registryOf(t)
	m.Know(slices.Values([]*retry.Policy{policy.BuiltIn("tiss")}))
	text := exposition(t, reg)
	if n := strings.Count(text, "retry_policy_info{"); n != 1 || !strings.Contains(text, `retry_policy_info{policy="tiss"`) {
		t.Errorf("%d policies are shown as in force, want tiss alone", n)
	}
	if !strings.Contains(text, `retry_dead_letters_total{policy="smtp"}`) {
		t.Error("what smtp had counted is gone: the rate of a counter that vanishes is wrong")
	}
}
