package retry_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

func TestClassify(t *testing.T) {
	for class, codes := range map[retry.Class]string{
		retry.Permanent: "INVALID_PATIENT_DATA INSURANCE_EXPIRED AUTHORIZATION_DENIED DUPLICATE_CLAIM INVALID_PROCEDURE_CODE",
		retry.Transient: "TIMEOUT CONNECTION_ERROR SERVICE_UNAVAILABLE NETWORK_ERROR TEMPORARY_ERROR RATE_LIMIT SERVER_ERROR 503 504",
	} {
		for code := range strings.FieldsSeq(codes) {
			if got := policy.BuiltIn("tiss").Classify(code); got.Class != class || got.Code != code {
				t.Errorf("%s: %s, found %q, want %s", code, got.Class, got.Code, class)
			}
		}
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
