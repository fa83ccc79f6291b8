package main

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// decisionRepeats is how often each kind of decision is measured, a second each.
const decisionRepeats = 3

// decisionCost is what one decision costs, by the benchmark of the testing package.
type decisionCost struct {
	// Nanoseconds holds every measurement, in the order of the kinds.
	Nanoseconds []float64 `json:"nanoseconds"`
	// Allocations is the most that any kind of decision makes.
	Allocations int64 `json:"allocations"`
}

// measureDecision measures a retry, an unknown error and a permanent one.
func measureDecision() decisionCost {
	policy, now := retry.TISS(), time.Now()
	var cost decisionCost
	for range decisionRepeats {
		for _, text := range []string{retryTexts[0].text, retryTexts[3].text, permanentText} {
			request := retry.Request{ClaimID: "CLM-2026-000123-1", SubmissionError: text, RetryCount: 1, ProcessInstanceKey: 2251799813685249}
			result := testing.Benchmark(func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := policy.Decide(request, now); err != nil {
						b.Fatal(err)
					}
				}
			})
			cost.Nanoseconds = append(cost.Nanoseconds, float64(result.NsPerOp()))
			cost.Allocations = max(cost.Allocations, result.AllocsPerOp())
		}
	}
	return cost
}
