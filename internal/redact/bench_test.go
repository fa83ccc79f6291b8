package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/redact"
)

// It runs for every job: a clean text of 60 bytes should cost less than 1.5 us.
func BenchmarkClean(b *testing.B) {
	for _, text := range []string{
		"TIMEOUT - connection to insurer timed out after 30 s, status=503",
		"Beneficiário não encontrado no cadastro da operadora, 5016.",
		"CLM-2024-000123: job 2251799813685251, 2024-11-21T10:30:00Z",
	} {
		b.Run(fmt.Sprintf("%.12s", text), func(b *testing.B) { run(b, text) })
	}
}

func BenchmarkFound(b *testing.B) {
	run(b, "Paciente MARIA DA SILVA, CPF 123.456.789-09, tel 11987654321")
}

// Twice the text may cost twice the time, never more, whatever it consists of.
func BenchmarkGrowth(b *testing.B) {
	for _, piece := range []string{
		"TIMEOUT ", "nome ", "nome:\u200b\u200b", "1 ", "1\u200b", "123.", "(11", "+5", "a", "a.", "@a", "a@", "%25", "&amp;", "\\", "Maria da ",
		"nome maria ", `"nome":"`, "<nome a", "cpf de ", "nascimento em ", "\u0303", "&#", `\u00`, "AB.CDE.345/01D", "pai Ana ", "[CPF],", "nome 1 ", "D.", "529,", `a"`, "+5 ", "%5C",
	} {
		for _, size := range []int{8 << 10, 16 << 10} {
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
