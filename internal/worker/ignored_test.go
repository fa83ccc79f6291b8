package worker_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker"
)

// These are what an attack sent, and what it needs to be read wrongly.
func TestOptionalValuesOfAnOutsiderMakeNoIncident(t *testing.T) {
	for variable, values := range map[string]map[string]string{
		"retryAfter": {
			`""`: "", `" "`: "", `1.5`: "", `"60s"`: "", `"PT60S"`: "", `"120, 120"`: "", `"Wed, 21 Oct 2026 07:28:00 UTC"`: "", `-0`: "NEGATIVE", `-1`: "NEGATIVE", `"-1"`: "NEGATIVE",
			`"soon"`: "UNREADABLE", `1e400`: "UNREADABLE", `-1e400`: "UNREADABLE", `"1,5"`: "AMBIGUOUS", `"0001-01-01T00:00:00Z"`: "YEAR",
			`true`: "TYPE", `false`: "TYPE", `[120]`: "TYPE", `{"s":120}`: "TYPE", `null`: "",
		},
		"lastSubmissionTime": {
			`""`: "", `"2025-01-12 10:00:00"`: "", `"2025-01-12T07:39:30-0300"`: "", `1736678370000`: "", `"yesterday"`: "UNREADABLE", `1e400`: "UNREADABLE", `-1`: "NEGATIVE",
			`20`: "YEAR", `"0001-01-01T00:00:00Z"`: "YEAR", `false`: "TYPE", `[2026,11,21,10,0]`: "TYPE", `{"year":2026}`: "TYPE", `null`: "",
		},
	} {
		for value, reason := range values {
			got := answer(t, fmt.Sprintf(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT",%q:%s}`, variable, value))
			if got.Kind() != job.KindComplete {
				t.Errorf("%s %s: answered %s %q, want a decision", variable, value, got.Kind(), got.Message())
				continue
			}
			var ignored any
			if reason != "" {
				ignored = []any{map[string]any{"variable": variable, "reason": reason}}
			}
			d := decision(t, got)
			check.Same(t, ignored, d["ignored"], "%s %s: ignored", variable, value)
			least, most := 5.0, 6.0 // no span of these is longer than the policy's least
			if variable == "retryAfter" && strings.Contains(value, "Oct 2026") {
				least, most = 240, 240
			}
			if minutes := d["backoffMinutes"].(float64); minutes < least || minutes > most {
				t.Errorf("%s %s: waits %v minutes", variable, value, minutes)
			}
		}
	}
}

func TestAnIgnoredVariableIsLoggedByItsShape(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	newHandler(t, zap.New(core), &counts{}).Handle(t.Context(), []job.Job{
		newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryAfter":"Maria 707","lastSubmissionTime":[1]}`),
	})
	lines := logs.FilterMessage("input_ignored").All()
	if len(lines) != 2 || logs.Len() != 3 {
		t.Fatalf("%d lines, %d of them about ignored variables, want 3 and 2", logs.Len(), len(lines))
	}
	for i, want := range []map[string]any{
		{"variable": "lastSubmissionTime", "value": "a list", "reason": "TYPE"},
		{"variable": "retryAfter", "value": `the text "Xxxxx 999"`, "reason": "UNREADABLE"},
	} {
		got := lines[i].ContextMap()
		if got["claimId"] != "CLM-001-1" || got["jobKey"] != int64(4711) || lines[i].Level != zap.WarnLevel {
			t.Errorf("%s %v", lines[i].Level, got)
		}
		for name, value := range want {
			check.Same(t, value, got[name], "%s", name)
		}
	}
}

// RN-BIL-004 answers without retryDecision; its record keeps that next to the answer.
func TestIgnoredVariablesAreRecorded(t *testing.T) {
	for _, jobType := range []string{contract.JobType, contract.BackoffJobType} {
		m := newMemory()
		o := optionsOn(m, &counts{}, atNow, zap.NewNop())
		o.JobType = jobType
		worker.NewHandler(o).Handle(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryAfter":"Maria 707"}`)})
		record, facts := m.only(t), m.facts(t)
		text, err := json.Marshal(facts.RetryDecision.Ignored)
		check.Must(t, err)
		if string(text) != `[{"variable":"retryAfter","reason":"UNREADABLE"}]` || strings.Contains(record.Variables+record.Detail, "Maria") {
			t.Errorf("%s keeps %s in %s %s", jobType, text, record.Variables, record.Detail)
		}
	}
}

func TestRetryUntilBefore2000IsAnIncident(t *testing.T) {
	for _, value := range []string{"0001-01-01T00:00:00Z", "0001-01-01T00:00:00", "0000-12-31T00:00:00Z", "1970-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "1999-12-31T21:59:59"} {
		got := answer(t, `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryUntil":"`+value+`"}`)
		if got.Kind() != job.KindFail || !strings.Contains(got.Message(), "but must be an RFC 3339 time or a local date-time, from the year 2000 on, or absent") {
			t.Errorf("%s: answered %s %q", value, got.Kind(), got.Message())
		}
	}
	check.Same(t, "MAX_RETRIES_EXCEEDED", answer(t, `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryUntil":"2000-01-01T00:00:00Z"}`).Code(), "answer")
}
