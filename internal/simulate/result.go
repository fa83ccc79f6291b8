package simulate

import (
	"maps"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// Result is how a simulation went. The claims are AtOnce, Survivors, Exhausted, Deadline and Permanent together.
type Result struct {
	// Class is what the policy takes the error text for.
	Class retry.Classification
	// AtOnce were accepted at their first try, Survivors at a later one.
	AtOnce, Survivors int
	// Exhausted have used up their retries, Deadline were stopped by the policy's deadline, Permanent by the error's class.
	Exhausted, Deadline, Permanent int
	// Tries are all submissions, the first ones included. Wasted are those of the retries that were made in an outage.
	Tries, Wasted int
	// P50, P95 and Max are how long it took the survivors from their first failure to their acceptance; 0 where there is none.
	P50, P95, Max time.Duration
	// LastAccepted is when the last survivor was accepted, from the start on; 0 where there is none.
	LastAccepted time.Duration
	// Waves are the retries by the second in which they are made, in order; seconds without one are left out.
	Waves []Wave
	// Largest is the largest number of retries within any 60 seconds, and when those begin.
	Largest Wave
}

// Wave is a number of retries that are made at a time, counted from the start, or from that time on.
type Wave struct {
	At      time.Duration
	Retries int
}

func (r *run) sum() *Result {
	sum := r.result
	slices.Sort(r.toSuccess)
	sum.P50, sum.P95, sum.Max = quantile(r.toSuccess, 50), quantile(r.toSuccess, 95), quantile(r.toSuccess, 100)
	for _, second := range slices.Sorted(maps.Keys(r.waves)) {
		sum.Waves = append(sum.Waves, Wave{At: time.Duration(second) * time.Second, Retries: r.waves[second]})
	}
	sum.Largest = largest(sum.Waves)
	return &sum
}

// quantile returns the least of the sorted seconds that percent of them do not exceed; 0 for none.
func quantile(sorted []int64, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*percent + 99) / 100
	return time.Duration(sorted[max(rank, 1)-1]) * time.Second
}

// largest returns the largest number of retries within a minute, the first of equal ones.
func largest(waves []Wave) (most Wave) {
	within, from := 0, 0
	for _, w := range waves {
		within += w.Retries
		for ; waves[from].At <= w.At-time.Minute; from++ {
			within -= waves[from].Retries
		}
		if within > most.Retries {
			most = Wave{At: waves[from].At, Retries: within}
		}
	}
	return most
}
