package retry_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/policy"
)

// A decision must stay below a microsecond and four allocations.
func BenchmarkDecide(b *testing.B) {
	for _, bb := range []struct{ name, text string }{
		{"transient", "TIMEOUT - Connection timeout after 30s"},
		{"permanent", "INVALID_PATIENT_DATA - CPF inválido"},
		{"unknown", "ORA-00060: deadlock detected while waiting for resource"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			tiss, r := policy.BuiltIn("tiss"), request(bb.text, 1)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tiss.Decide(r, now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestADecisionCostsAtMostFourAllocations(t *testing.T) {
	tiss, r := policy.BuiltIn("tiss"), request("timeout - Connection timeout after 30s", 1)
	if got := testing.AllocsPerRun(100, func() { _, _ = tiss.Decide(r, now) }); got > 4 {
		t.Errorf("%v allocations a decision, want at most 4", got)
	}
}
