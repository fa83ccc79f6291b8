package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/testing/redacttest"
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

func BenchmarkPersonal(b *testing.B) {
	run(b, "Paciente MARIA DA SILVA, CPF 123.456.789-09, tel 11987654321")
}

// A text as long as a variable of a process can be.
func BenchmarkMebibyte(b *testing.B) {
	var canaries strings.Builder
	for _, c := range redacttest.Take(9, 3_000) {
		canaries.WriteString(c.Text + "\n")
	}
	for _, tt := range []struct{ name, piece string }{
		{"page", "<html><body><h1>Serviço indisponível</h1><p>O sistema da operadora está em manutenção.</p></body></html>\n"},
		{"stack", "\tat org.springframework.web.client.RestTemplate.doExecute(RestTemplate.java:785)\n"},
		{"unknown", "lorem ipsum dolor sit amet consectetur adipiscing elit "},
		{"canaries", canaries.String()},
	} {
		const size = 1 << 20
		b.Run(tt.name, func(b *testing.B) { run(b, strings.Repeat(tt.piece, size/len(tt.piece)+1)[:size]) })
	}
}

// Twice the text may cost twice the time, never more, whatever it consists of.
func BenchmarkGrowth(b *testing.B) {
	for _, piece := range []string{
		"TIMEOUT ", "nome ", "1 ", "1\u200b", "123.", "a", "a.", "@a", "%25", "&amp;", "&#", "\\", `\u00`, "Maria da ", "Dias ", "A ", "\u0303", "Ⓜ", "[palavra]",
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
