package main

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// A worker that is fast because it is wrong must not get into the table.
func TestOnlyTheRightAnswerPasses(t *testing.T) {
	claims := mixed(0, 100)
	const right = `{"shouldRetry":true,"retryCount":2,"errorClassification":"TRANSIENT",` +
		`"originalError":"SERVICE_UNAVAILABLE: o portal da operadora respondeu HTTP 503"}`
	check.Must(t, claims[1].check("", right))
	for old, wrong := range map[string]string{
		"}": "", "TRANSIENT": "UNKNOWN", `"retryCount":2`: `"retryCount":1`, "HTTP 503": "HTTP 504", "true": "false",
	} {
		if claims[1].check("", strings.Replace(right, old, wrong, 1)) == nil {
			t.Errorf("%q in place of %q passes", wrong, old)
		}
	}
	if claims[1].check("PERMANENT_ERROR", right) == nil || claims[90].check("", right) == nil {
		t.Error("the wrong BPMN error passes")
	}
}

func TestWorkersAreComparedWithinARound(t *testing.T) {
	var results [2][]sample
	for _, k := range []float64{1, 10} { // a machine that is ten times slower in the second round
		results[0] = append(results[0], sample{cpu: 10 * k, throughput: 1000 / k})
		results[1] = append(results[1], sample{cpu: 15 * k, throughput: 800 / k})
	}
	var table strings.Builder
	check.Must(t, report(&table, []contender{{name: "plain"}, {name: "ours"}}, results[:]))
	check.Contains(t, table.String(), "1.50 (1.50 to 1.50)", "0.80 (0.80 to 0.80)", "82 (15 to 150)")
}
