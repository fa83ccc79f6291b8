package worker_test

import (
	"fmt"
	"testing"

	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

// A mapping of the model can hide the returned count. The claim must not loop for ever.
func TestTheGreaterOfTheModelsAndTheTrailsCountCounts(t *testing.T) {
	for _, tt := range []struct {
		brought, recorded int
		want              want
	}{
		{0, 0, want{"retryCount": 1.0, "countFrom": nil}},
		{3, 1, want{"retryCount": 4.0, "countFrom": nil}}, // decisions that another store holds
		{0, 3, want{"retryCount": 4.0, "delayBeforeJitter": "PT40M", "countFrom": "TRAIL", "retriesLeft": 1.0}},
		{2, 700, want{"retryCount": 700.0, "shouldRetry": false, "reason": "COUNT", "countFrom": "TRAIL"}},
		{5, 2, want{"retryCount": 5.0, "shouldRetry": false, "reason": "COUNT", "countFrom": nil}},
	} {
		t.Run(fmt.Sprintf("brought %d, recorded %d", tt.brought, tt.recorded), func(t *testing.T) {
			m := after(retried(tt.recorded))
			a := ask(t, m, newJob(fmt.Sprintf(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":%d}`, tt.brought)))
			stopped := tt.want["shouldRetry"] == false
			if tt.want.check(t, a); (a.Kind == job.KindThrowError) != stopped {
				t.Errorf("answered by %s", a.Kind)
			}
			if stopped && a.Code != string(retry.OutcomeExhausted) {
				t.Errorf("BPMN error %s", a.Code)
			}
			check.Same(t, tt.want["retryCount"], any(float64(m.only(t).RetryCount)), "the count in the trail")
		})
	}
}

func TestAPermanentErrorAsksForNoCount(t *testing.T) {
	want{"errorClassification": "PERMANENT", "retryCount": 0.0, "countFrom": nil}.
		check(t, ask(t, after(retried(3)), newJob(jobWith("DUPLICATE_CLAIM"))))
}

// What a stop by a deadline reports as attempts would else begin again too.
func TestAStopByADeadlineHasTheTrailsCountToo(t *testing.T) {
	for recorded, reason := range map[int]string{3: "DEADLINE", 5: "COUNT"} {
		m := after(retried(recorded))
		want{"reason": reason, "retryCount": float64(recorded), "retriesLeft": float64(5 - recorded)}.
			check(t, ask(t, m, asked{more: `,"retryUntil":"2025-01-12T10:41:00Z"`}.job()))
		check.Same(t, recorded+1, m.facts(t).Attempts, "attempts")
	}
}

func TestALostCountIsWarnedOf(t *testing.T) {
	core, logs := observer.New(zapcore.WarnLevel)
	ask(t, after(retried(1)), newJob(jobWith("TIMEOUT")), loggedTo(core))
	warned := logs.FilterMessage("retry_count_lost").All()
	if len(warned) != 1 {
		t.Fatalf("%+v", logs.All())
	}
	for name, value := range map[string]any{
		"claimId": "CLM-001-1", "retryCount": int64(0), "recordedRetries": int64(1), "elementId": "Task_AnalyzeRetry",
	} {
		check.Same(t, value, warned[0].ContextMap()[name], "%s", name)
	}
}
