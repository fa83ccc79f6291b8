package policy_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAFileOfCasesNamesItsFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "the file holds no cases",
		"cases: []":                "the file holds no cases",
		"cases: [{text: TIMEOUT}]": "states none of class, rule and wait",
		"cases: [~]":               "a value is missing here",
		"cases: [{txt: TIMEOUT, class: UNKNOWN}]": "txt",
	} {
		_, err := policy.ParseCases("cases.yaml", []byte(text))
		check.Fails(t, err, want, "cases.yaml")
	}
}

func TestACaseMaySpellAWaitAsAnyDuration(t *testing.T) {
	for wait, want := range map[string]string{
		"64m-96m": "1h4m-1h36m", "PT8M - 720s": "8m-12m", "60m": "1h", "5m-5m": "5m", "none": "none", "soon-5m": "soon-5m",
	} {
		cases, err := policy.ParseCases("cases.yaml", []byte("cases: [{text: TIMEOUT, wait: "+wait+"}]"))
		check.Must(t, err)
		check.Same(t, want, cases[0].Wait, "%s", wait)
	}
}
