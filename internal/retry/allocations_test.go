//go:build !race

// With the race detector a sync.Pool loses what it holds at random, so nothing is known of its allocations.

package retry_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/retry/policy"
)

func TestADecisionMakesFewAllocations(t *testing.T) {
	const most = 4
	tiss, r := policy.BuiltIn("tiss"), request("timeout - Connection timeout after 30s", 1)
	if got := testing.AllocsPerRun(100, func() { tiss.Decide(r, now) }); got > most {
		t.Errorf("%v allocations a decision, want at most %d", got, most)
	}
}
