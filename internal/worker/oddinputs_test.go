package worker_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/oddinputs"
)

// Whatever the variables are, a job is answered once, an answer's variables are valid JSON, and a retry waits 5..240
// minutes.
func FuzzDecode(f *testing.F) {
	for _, in := range oddinputs.All() {
		if len(in.Variables) < 4096 { // the fuzzer makes its own long inputs
			f.Add(in.Variables)
		}
	}
	f.Fuzz(func(t *testing.T, variables string) {
		got := newHandler(t, zap.NewNop(), &counts{}).Handle(t.Context(), []job.Job{newJob(variables)})[0]
		switch got.Kind() {
		case job.KindFail:
			if got.Retries() != 0 || got.Message() == "" {
				t.Errorf("failed with %d retries and message %q, want an incident", got.Retries(), got.Message())
			}
		case job.KindComplete, job.KindThrowError:
			var out struct {
				ShouldRetry    *bool
				BackoffMinutes *int
			}
			if err := json.Unmarshal([]byte(got.Variables()), &out); err != nil || out.ShouldRetry == nil || out.BackoffMinutes == nil {
				t.Fatalf("variables %q: %v", got.Variables(), err)
			}
			if *out.ShouldRetry != (got.Kind() == job.KindComplete) {
				t.Errorf("%s says shouldRetry %v", got.Kind(), *out.ShouldRetry)
			}
			if *out.ShouldRetry && (*out.BackoffMinutes < 5 || *out.BackoffMinutes > 240) {
				t.Errorf("waits %d minutes", *out.BackoffMinutes)
			}
		default:
			t.Errorf("answered %s", got.Kind())
		}
	})
}

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
				check.Contains(t, message, variable+" is ")
			}
			check.Same(t, len(in.Faulty), strings.Count(message, " but must be "), "faults named in %q", message)
			if len(message) > 1000 {
				t.Errorf("the incident's text has %d bytes, nobody reads that", len(message))
			}
		})
	}
}
