package bpmn_test

import (
	"maps"
	"testing"
)

func TestEachExampleHasItsJobTypeAndPolicy(t *testing.T) {
	for path, want := range map[string]struct{ jobType, policy string }{
		"../examples/submission-backoff.bpmn": {"retry-submission-backoff", ""},
		"../examples/job-queue.bpmn":          {"analyze-retry", "job-queue"},
		"../examples/email.bpmn":              {"analyze-retry", "smtp"},
		"../examples/fast-retry.bpmn":         {"analyze-retry", "fast"},
	} {
		analysis := read(t, path).byID(t, "Task_AnalyzeRetry")
		if got := analysis.all("taskDefinition")[0].attr("type"); got != want.jobType {
			t.Errorf("%s: job type %s, want %s", path, got, want.jobType)
		}
		headers := map[string]string{}
		for _, h := range analysis.all("header") {
			headers[h.attr("key")] = h.attr("value")
		}
		wanted := map[string]string{}
		if want.policy != "" {
			wanted["retryPolicy"] = want.policy
		}
		if !maps.Equal(headers, wanted) {
			t.Errorf("%s: headers %v, want %v", path, headers, wanted)
		}
	}
}

// Only minutes come back from the older job; the policies of the others need less than one.
func TestEachExampleWaitsWhatItsJobAnswers(t *testing.T) {
	const minutes, duration = `=duration("PT" + string(backoffMinutes) + "M")`, `=duration(retryDecision.backoffDuration)`
	for path, want := range map[string]string{
		"../examples/submission-backoff.bpmn": minutes,
		"../examples/job-queue.bpmn":          duration,
		"../examples/email.bpmn":              duration,
		"../examples/fast-retry.bpmn":         duration,
	} {
		root := read(t, path)
		if got := root.byID(t, "Event_WaitBackoff").all("timeDuration")[0].Text; got != want {
			t.Errorf("%s: it waits %s, want %s", path, got, want)
		}
		// A failure without a text must be analyzed as one, not with the text of the failure before.
		for _, start := range append(root.all("startEvent"), root.byID(t, "Event_WaitBackoff")) {
			if got := start.outputs(); got["submissionError"] != "=null" || got["retryAfter"] != "=null" {
				t.Errorf("%s: %s leaves %v of the failure before", path, start.attr("id"), got)
			}
		}
		if got := root.all("startEvent")[0].outputs()["retryCount"]; got != "=0" {
			t.Errorf("%s: the start sets retryCount to %q, want =0", path, got)
		}
	}
}
