package retry_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/retry/policy"
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
	padding := strings.Repeat(".", errtext.MaxBytes-len("TIMEOUT"))
	if got := tiss.Classify(padding + "TIMEOUT").Class; got != retry.Transient {
		t.Errorf("a code that ends at the limit: %s, want TRANSIENT", got)
	}
	if got := tiss.Classify(padding + ".TIMEOUT").Class; got != retry.Unknown {
		t.Errorf("a code that ends behind the limit: %s, want UNKNOWN", got)
	}
}

func TestAnErrorOfTheHospitalsOwnAccessIsOperationsWork(t *testing.T) {
	for said, team := range map[string]string{
		"HTTP 401 Unauthorized: credentials expired":    "operations",
		"HTTP 403 Forbidden":                            "operations",
		"got 404 Not Found":                             "operations",
		"<faultcode>S:VersionMismatch</faultcode>":      "operations",
		"<faultcode>soap:Client</faultcode>":            "", // it does not say whose
		"HTTP 422 Unprocessable Entity":                 "",
		"<codigoGlosa>1308</codigoGlosa> HTTP 401":      "",
		"HTTP 401 INVALID_PATIENT_DATA":                 "",
		"HTTP 503 Service Unavailable, not HTTP 401":    "",
		"nothing that a rule knows, and whose work, eh": "",
	} {
		if got := policy.BuiltIn("tiss").Classify(said); got.Team != team {
			t.Errorf("%s: rule %s is the work of %q, want %q", said, got.RuleID, got.Team, team)
		}
	}
}
