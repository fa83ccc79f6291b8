package worker_test

import (
	"maps"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker"
)

func TestLogNamesTheElementTemplateOfATask(t *testing.T) {
	const long = 200
	for headers, want := range map[string]map[string]any{
		`{"elementTemplateId":"hospital.submit","elementTemplateVersion":"3","x":"y"}`: {"templateId": "hospital.submit", "templateVersion": "3"},
		`{"elementTemplateId":"` + strings.Repeat("i", long) + `","elementTemplateVersion":"` + strings.Repeat("9", long) + `"}`: {
			"templateId": strings.Repeat("i", 100), "templateVersion": strings.Repeat("9", 100),
		},
		`{"elementTemplateVersion":"3"}`: {},
		``:                               {},
	} {
		for event, variables := range map[string]string{
			"retry_scheduled":  `{"claimId":"CLM-001-1","submissionError":"TIMEOUT"}`,
			"outcome_recorded": `{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`,
		} {
			core, logs := observer.New(zap.InfoLevel)
			j := newJob(variables)
			j.Headers = headers
			if event == "outcome_recorded" {
				worker.NewOutcomeHandler(trailOn(newMemory()), atNow, &counts{}, zap.New(core)).Handle(t.Context(), []job.Job{j})
			} else {
				newHandler(t, zap.New(core), &counts{}).Handle(t.Context(), []job.Job{j})
			}
			lines := logs.FilterMessage(event).All()
			if len(lines) != 1 {
				t.Fatalf("%s with headers %.60s: logged %d times", event, headers, len(lines))
			}
			got := lines[0].ContextMap()
			maps.DeleteFunc(got, func(name string, _ any) bool { return !strings.HasPrefix(name, "template") })
			check.Same(t, want, got, "%s with headers %.60s", event, headers)
		}
	}
}
