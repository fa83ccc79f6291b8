package errtext_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

// A line of plain bytes takes 1.5 us, one dense with evidence 3.2 us, a page of 64 KiB some
// milliseconds, whatever stands in it.
func BenchmarkRead(b *testing.B) {
	const line = "Lote 20251112 da guia CLM-001-1234567890: the answer of the insurer's gateway was not what the program expected " +
		"at that place, see the log of the integration server for more, or ask the people who run it day by day"
	const dense = "HTTP 503 Service Unavailable: 1023 - NOME DO TITULAR INVALIDO, guia recusada apos a queda do sistema; java.net.Socket" +
		"TimeoutException: read timed out, servico de autorizacao indisponivel, tente mais tarde"
	page := func(piece string) string { return strings.Repeat(piece, errtext.MaxBytes/len(piece)) }
	for _, bb := range []struct{ name, text string }{
		{"a line of 200 bytes", line[:200]},
		{"a line of 200 bytes with accents", "é" + line[:198]},
		{"a dense line of 200 bytes", dense[:200]},
		{"a page with a glosa", page("<td>"+line+"</td>\n") + "<codigoGlosa>1308</codigoGlosa>"},
		{"a page of numbers", page("1308 <br> 503 ")},
		{"a page of signs", page("timeout fora do ar ")},
		{"a page of answers", page("<codigoGlosa>1308")},
		{"a page of terms in terms", page("corrija e tente novamente ")},
		{"a page of gaps", page("tempo ")},
		{"a page of subjects", page("guia recusada por sistema ")},
		{"a page of lost letters", page("N?O n\uFFFDo ")},
		{"a page of bytes that are no text", page("\xc3")},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.text)))
			for b.Loop() {
				errtext.Read(bb.text).Free()
			}
		})
	}
}
