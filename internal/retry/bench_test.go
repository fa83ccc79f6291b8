package retry_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/retry/policy"
)

func BenchmarkDecide(b *testing.B) {
	for name, text := range map[string]string{
		"transient": "TIMEOUT - Connection timeout after 30s",
		"unknown":   "Falha ao importar o lote: o processo terminou com o código 3",
	} {
		b.Run(name, func(b *testing.B) {
			tiss, r := policy.BuiltIn("tiss"), request(text, 1)
			b.ReportAllocs()
			for b.Loop() {
				tiss.Decide(r, now)
			}
		})
	}
}
