package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/redact"
)

// It runs for every job: a known text of 60 bytes should cost less than 1.5 us.
func BenchmarkKnown(b *testing.B) {
	for _, text := range []string{
		"TIMEOUT - connection to insurer timed out after 30 s, status=503",
		"Beneficiário não encontrado no cadastro da operadora.",
	} {
		b.Run(fmt.Sprintf("%.12s", text), func(b *testing.B) { run(b, text) })
	}
}

// Twice the text may cost twice the time, never more, whatever it consists of.
func BenchmarkGrowth(b *testing.B) {
	for _, piece := range []string{
		"TIMEOUT ", "1\u200b", "a.", "%25", "&#", "Maria da ", "\u0303",
	} {
		for _, size := range []int{4 << 10, 8 << 10} {
			b.Run(fmt.Sprintf("%q x %dKiB", piece, size>>10), func(b *testing.B) { run(b, strings.Repeat(piece, size/len(piece))) })
		}
	}
}

func run(b *testing.B, text string) {
	b.Helper()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		redact.Text(text)
	}
}
