package retry_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

var knownErrors = []struct {
	code  string
	class retry.Class
}{
	{"INVALID_PATIENT_DATA", retry.Permanent},
	{"INSURANCE_EXPIRED", retry.Permanent},
	{"AUTHORIZATION_DENIED", retry.Permanent},
	{"DUPLICATE_CLAIM", retry.Permanent},
	{"INVALID_PROCEDURE_CODE", retry.Permanent},
	{"TIMEOUT", retry.Transient},
	{"CONNECTION_ERROR", retry.Transient},
	{"SERVICE_UNAVAILABLE", retry.Transient},
	{"NETWORK_ERROR", retry.Transient},
	{"TEMPORARY_ERROR", retry.Transient},
	{"RATE_LIMIT", retry.Transient},
	{"SERVER_ERROR", retry.Transient},
	{"503", retry.Transient},
	{"504", retry.Transient},
}

func TestClassify(t *testing.T) {
	for _, known := range knownErrors {
		if got := policy.BuiltIn("tiss").Classify(known.code); got.Class != known.class || got.Code != known.code {
			t.Errorf("%s: %s, found %q, want %s", known.code, got.Class, got.Code, known.class)
		}
	}
	for _, tt := range []struct {
		name, text string
		class      retry.Class
		rule       string
	}{
		{"a code inside a sentence", "Falha: INSURANCE_EXPIRED desde 2024-12-31", retry.Permanent, "permanent.INSURANCE_EXPIRED"},
		{"lower case", "service_unavailable", retry.Transient, "transient.SERVICE_UNAVAILABLE"},
		{"a code inside a longer word", "READTIMEOUTEXCEPTION", retry.Transient, "transient.TIMEOUT"},
		{"digits inside a number, as the rule says contains", "guia 150399", retry.Transient, "transient.503"},
		{"permanent before transient in the text", "DUPLICATE_CLAIM after TIMEOUT", retry.Permanent, "permanent.DUPLICATE_CLAIM"},
		{"transient before permanent in the text", "TIMEOUT, then DUPLICATE_CLAIM", retry.Permanent, "permanent.DUPLICATE_CLAIM"},
		{"two transient codes: the first of the list", "504 SERVER_ERROR", retry.Transient, "transient.SERVER_ERROR"},
		{"another HTTP status inside a number", "guia 150299", retry.Unknown, "unknown"},
		{"upper case by Unicode: a dotless i", "tımeout", retry.Transient, "transient.TIMEOUT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := policy.BuiltIn("tiss").Classify(tt.text)
			if got.Class != tt.class || got.RuleID != tt.rule {
				t.Errorf("%q: %s by %s, want %s by %s", tt.text, got.Class, got.RuleID, tt.class, tt.rule)
			}
		})
	}
}

func TestOnlyTheBeginningOfALongTextIsClassified(t *testing.T) {
	tiss := policy.BuiltIn("tiss")
	padding := strings.Repeat(".", evidence.MaxBytes-len("TIMEOUT"))
	if got := tiss.Classify(padding + "TIMEOUT").Class; got != retry.Transient {
		t.Errorf("a code that ends at the limit: %s, want TRANSIENT", got)
	}
	if got := tiss.Classify(padding + ".TIMEOUT").Class; got != retry.Unknown {
		t.Errorf("a code that ends behind the limit: %s, want UNKNOWN", got)
	}
}
