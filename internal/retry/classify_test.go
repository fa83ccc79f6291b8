package retry_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/retry/policy"
)

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
			t.Errorf("%s: rule %s is the work of %q, want %q", said, got.ID, got.Team, team)
		}
	}
}
