package worker_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/oddinputs"
)

func TestOddInputsEndInAClearIncidentOrADecision(t *testing.T) {
	inputs := oddinputs.All()
	if len(inputs) < 200 {
		t.Fatalf("the table has shrunk to %d inputs", len(inputs))
	}
	for _, in := range inputs {
		t.Run(in.Name, func(t *testing.T) {
			got := answer(t, in.Variables)
			if in.Faulty == nil {
				if got.Kind() != job.KindComplete && got.Kind() != job.KindThrowError {
					t.Fatalf("answered %s %q, want a decision", got.Kind(), got.Message())
				}
				return
			}
			if got.Kind() != job.KindFail || got.Retries() != 0 {
				t.Fatalf("answered %s with %d retries, want an incident", got.Kind(), got.Retries())
			}
			message := got.Message()
			for _, variable := range in.Faulty {
				if !strings.Contains(message, variable+" is ") {
					t.Errorf("incident %q does not name %s", message, variable)
				}
			}
			if found := strings.Count(message, " but must be "); found != len(in.Faulty) {
				t.Errorf("incident %q names %d faults, want %d", message, found, len(in.Faulty))
			}
			if len(message) > 1000 {
				t.Errorf("the incident's text has %d bytes, nobody reads that", len(message))
			}
		})
	}
}
