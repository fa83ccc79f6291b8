package retry_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/policy"
)

const aLine = "Lote 20251112 da guia CLM-001-1234567890: the answer of the insurer's gateway was not what the program expected at that " +
	"place, see the log of the integration server for more, or ask the people that run"

func BenchmarkDecide(b *testing.B) {
	var numbers strings.Builder
	for n := 1000; numbers.Len() < evidence.MaxBytes-1000; n++ {
		fmt.Fprintf(&numbers, "%d <br>\n", 1000+n%5000)
	}
	for _, bb := range []struct{ name, text string }{
		{"transient", "TIMEOUT - Connection timeout after 30s"},
		{"permanent", "INVALID_PATIENT_DATA - CPF inválido"},
		{"unknown", "Falha ao importar o lote: o processo terminou com o código 3"},
		{"a line without a hit", aLine},
		{"a page of numbers", numbers.String()},
		{"a page of numbers with a code at its end", numbers.String() + "<ans:codigoGlosa>5008</ans:codigoGlosa>"},
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
