package policy_test

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAFileOfCasesNamesItsFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "the file holds no cases",
		"cases: []":                "the file holds no cases",
		"cases: [{text: TIMEOUT}]": "states none of class, rule and wait",
		"cases: [~]":               "states none of class, rule and wait",
		"cases: [{txt: TIMEOUT, class: UNKNOWN}]": "txt",
	} {
		_, err := policy.ParseCases("cases.yaml", []byte(text))
		check.Fails(t, err, want, "cases.yaml")
	}
}

func TestACaseIsAnsweredWithClassRuleAndWait(t *testing.T) {
	cases, err := policy.ParseCases("cases.yaml", []byte("cases:\n- {text: TIMEOUT, retryCount: 1, wait: 8m-12m}\n- {text: DUPLICATE_CLAIM, class: PERMANENT}\n"))
	check.Must(t, err)
	check.Same(t, []int{2, 3}, []int{cases[0].Line, cases[1].Line}, "lines")
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	check.Same(t, policy.Answer{Class: "TRANSIENT", Rule: "transient.TIMEOUT", Wait: "8m-12m"}, cases[0].Of(policy.BuiltIn("tiss"), now), "the first")
	check.Same(t, "PERMANENT", cases[1].Of(policy.BuiltIn("tiss"), now).Class, "class of the second")
}
