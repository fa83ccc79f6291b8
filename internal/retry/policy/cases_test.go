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
