package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/policy"
)

func TestNumbersInPlainDigitsAreReadAsWritten(t *testing.T) {
	for written, want := range map[string]string{
		"maxRetries: 0": "0 2 0.2", "maxRetries: 10": "10 2 0.2", "maxRetries: 1000": "1000 2 0.2", "maxRetries: 2.0": "2 2 0.2",
		"maxRetries: 1, factor: 1.5": "1 1.5 0.2", "maxRetries: 1, factor: 10": "1 10 0.2",
		"maxRetries: 1, jitter: {mode: proportional, share: .5}":  "1 2 0.5",
		"maxRetries: 1, jitter: {mode: proportional, share: 0.0}": "1 2 0",
		"maxRetries: 1, jitter: {mode: proportional, share: 1}":   "1 2 1",
	} {
		set, err := policy.Parse("policies.yaml", []byte("policies:\n- {name: mine, extends: tiss, "+written+"}\n"))
		if err != nil {
			t.Errorf("%s: %v", written, err)
			continue
		}
		p, _ := set.Get("mine")
		if got := fmt.Sprint(p.MaxRetries, p.Factor, p.Jitter.Share); got != want {
			t.Errorf("%s is read as %s, want %s", written, got, want)
		}
	}
}

// Every field of the schema that holds a number; a new one belongs here.
func TestEveryNumericFieldRefusesAnOctalNumber(t *testing.T) {
	if fields := strings.Count(string(policy.Schema), `"type": "integer"`) + strings.Count(string(policy.Schema), `"type": "number"`); fields != 3 {
		t.Errorf("the schema has %d fields that hold a number, this test knows 3", fields)
	}
	for written, want := range map[string]string{
		"maxRetries: 010": "policies.yaml:2: policy mine: maxRetries is 010, which YAML reads as 8: write it in plain decimal digits",
		"factor: 010":     "policies.yaml:2: policy mine: factor is 010, which YAML reads as 8: ",
		"jitter: {mode: proportional, share: 01}": "policies.yaml:2: policy mine: jitter share is 01, which YAML reads as 1: ",
	} {
		if _, err := policy.Parse("policies.yaml", []byte("policies:\n- {name: mine, extends: tiss, "+written+"}\n")); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", written, err, want)
		}
	}
}
