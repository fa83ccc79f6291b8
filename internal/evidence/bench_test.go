package evidence_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/evidence"
)

// A line takes about a microsecond and no memory, a page of 64 KiB less than a millisecond, whatever stands in it.
func BenchmarkRead(b *testing.B) {
	line := "Lote 20251112 da guia CLM-001-1234567890: the answer of the insurer's gateway was not what the program expected at that place, " +
		"see the log of the integration server for more, or ask the people who run it day by day"
	for _, bb := range []struct{ name, text string }{
		{"a line of 200 bytes", line[:200]},
		{"a page of 64 KiB with a glosa", strings.Repeat("<td>"+line+"</td>\n", 320)[:evidence.MaxBytes-64] + "<codigoGlosa>1308</codigoGlosa>"},
		{"a page of numbers", strings.Repeat("1308 <br> 503 ", evidence.MaxBytes/14)},
		{"a page of signs", strings.Repeat("timeout fora do ar ", evidence.MaxBytes/19)},
		{"a page of answers", strings.Repeat("<codigoGlosa>1308", evidence.MaxBytes/17)},
		{"a page of terms in terms", strings.Repeat("corrija e tente novamente ", evidence.MaxBytes/26)},
		{"a page of gaps", strings.Repeat("tempo ", evidence.MaxBytes/6)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.text)))
			for b.Loop() {
				evidence.Read(bb.text).Free()
			}
		})
	}
}
