package main

import (
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// cpuPerDecision is the name of the figure in a benchmark's result.
const cpuPerDecision = "cpu-ns/op"

// decisionRepeats is how often each kind of decision is measured, a second each.
const decisionRepeats = 3

// decisionCost is what one decision costs, by the benchmark of the testing package.
type decisionCost struct {
	// nanoseconds holds every measurement. It is CPU time, which other programs on the machine do not lengthen.
	nanoseconds []float64
	// allocations is the most that any kind of decision makes.
	allocations int64
}

// measureDecision measures a retry, an unknown error and a permanent one.
func measureDecision() decisionCost {
	tiss, now := policy.BuiltIn("tiss"), time.Now()
	var cost decisionCost
	for range decisionRepeats {
		for _, text := range []string{retryTexts[0].text, retryTexts[3].text, permanentText} {
			request := retry.Request{ClaimID: "CLM-2026-000123-1", SubmissionError: text, RetryCount: 1, ProcessInstanceKey: 2251799813685249}
			result := testing.Benchmark(func(b *testing.B) {
				b.ReportAllocs()
				before := ownCPU()
				for b.Loop() {
					if _, err := tiss.Decide(request, now); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(ownCPU()-before)/float64(b.N), cpuPerDecision)
			})
			cost.nanoseconds = append(cost.nanoseconds, result.Extra[cpuPerDecision])
			cost.allocations = max(cost.allocations, result.AllocsPerOp())
		}
	}
	return cost
}

// ownCPU is the CPU time, user and system, that this process has used so far.
func ownCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // only wrong arguments fail
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
