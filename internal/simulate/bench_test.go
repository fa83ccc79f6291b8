package simulate_test

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
)

// 100,000 claims under tiss with and without jitter, as worker simulate asks for them, must stay below a second.
func BenchmarkAHundredThousandClaims(b *testing.B) {
	tiss := policy.BuiltIn("tiss")
	plain, err := simulate.WithoutJitter(tiss)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, p := range []*retry.Policy{tiss, plain} {
			s := simulate.Scenario{Outages: []simulate.Outage{{End: 3 * time.Hour}}, Claims: 100_000, Arrivals: 3 * time.Hour, Error: "TIMEOUT", Seed: 1}
			if _, err := simulate.Run(p, s, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}
