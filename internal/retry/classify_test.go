package retry_test

import (
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/match"
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
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		class      retry.Class
		rule       string
	}{
		{"the code alone", "TIMEOUT", retry.Transient, "transient.TIMEOUT"},
		{"a code inside a sentence", "Falha: INSURANCE_EXPIRED desde 2024-12-31", retry.Permanent, "permanent.INSURANCE_EXPIRED"},
		{"lower case", "service_unavailable", retry.Transient, "transient.SERVICE_UNAVAILABLE"},
		{"mixed case", "Rate_Limit reached", retry.Transient, "transient.RATE_LIMIT"},
		{"an HTTP status", "HTTP/1.1 503", retry.Transient, "transient.503"},
		{"a code inside a longer word", "READTIMEOUTEXCEPTION", retry.Transient, "transient.TIMEOUT"},
		{"digits inside a number, as the rule says contains", "guia 150399", retry.Transient, "transient.503"},
		{"permanent before transient in the text", "DUPLICATE_CLAIM after TIMEOUT", retry.Permanent, "permanent.DUPLICATE_CLAIM"},
		{"transient before permanent in the text", "TIMEOUT, then DUPLICATE_CLAIM", retry.Permanent, "permanent.DUPLICATE_CLAIM"},
		{"two transient codes: the first of the list", "504 SERVER_ERROR", retry.Transient, "transient.SERVER_ERROR"},
		{"words instead of codes", "connection timed out", retry.Transient, "transport.timeout"},
		{"code with a blank for the underscore", "INVALID PATIENT DATA", retry.Unknown, "unknown"},
		{"another HTTP status", "HTTP 502", retry.Transient, "http.status"},
		{"another HTTP status inside a number", "guia 150299", retry.Unknown, "unknown"},
		{"Portuguese", "tempo de resposta excedido", retry.Transient, "transport.timeout"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := policy.BuiltIn("tiss").Classify(tt.text)
			if got.Class != tt.class || got.RuleID != tt.rule {
				t.Errorf("%q: %s by %s, want %s by %s", tt.text, got.Class, got.RuleID, tt.class, tt.rule)
			}
		})
	}
}

func TestAPermanentRuleWinsWhereverItStandsInTheList(t *testing.T) {
	t.Parallel()
	settings := policy.BuiltIn("tiss").Settings
	settings.Rules = slices.Clone(settings.Rules) // the built-in one is shared
	slices.Reverse(settings.Rules)
	tiss, err := retry.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	if got := tiss.Classify("TIMEOUT, then DUPLICATE_CLAIM"); got.Class != retry.Permanent {
		t.Errorf("with the transient rules first: %s by %s, want PERMANENT", got.Class, got.RuleID)
	}
}

func TestOnlyTheBeginningOfALongTextIsClassified(t *testing.T) {
	t.Parallel()
	tiss := policy.BuiltIn("tiss")
	padding := strings.Repeat(".", match.MaxBytes-len("TIMEOUT"))
	if got := tiss.Classify(padding + "TIMEOUT").Class; got != retry.Transient {
		t.Errorf("a code that ends at the limit: %s, want TRANSIENT", got)
	}
	if got := tiss.Classify(padding + ".TIMEOUT").Class; got != retry.Unknown {
		t.Errorf("a code that ends behind the limit: %s, want UNKNOWN", got)
	}
}

// The rule compares the text in upper case; that is Unicode's upper case, not that of 26 letters.
func TestTheTextIsComparedInUpperCaseByUnicode(t *testing.T) {
	t.Parallel()
	if got := policy.BuiltIn("tiss").Classify("tımeout").Class; got != retry.Transient {
		t.Errorf("dotless i in upper case is I: got %s, want TRANSIENT", got)
	}
}
