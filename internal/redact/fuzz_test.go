package redact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

// sound checks what holds for every text: PostgreSQL takes the result, and a second run changes nothing.
func sound(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text string,
) {
	t.Helper()
	got := redact.Text(text)
	if !utf8.ValidString(got) || strings.Contains(got, "\x00") {
		t.Fatalf("%q becomes %q, which PostgreSQL refuses", text, got)
	}
	if again := redact.Text(got); again != got {
		t.Fatalf("%q\n becomes %q,\n    then %q", text, got, again)
	}
}

func FuzzText(f *testing.F) {
	for _, c := range redacttest.Take(3, 200) {
		f.Add(c.Text)
	}
	f.Add("\xff\x00 nome: \xe1\xe1 [palavra] %25%25 &amp;amp; &#185;&#x24c2 \\\\\\")
	f.Add("glosa 1011 identifica\ufffd\ufffdo ws.x:443 [código]:80 HTTP/1.1 503 5.1.1 550 5.1.1")
	f.Add("BY\u2060a")
	f.Fuzz(func(t *testing.T, text string) { sound(t, text) })
}

// Pieces that mean something to the reader, in any order, find what random characters never would.
func TestASecondRunChangesNothing(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"nome", "paciente", "Maria", "da", "SAÚ", "SILVA", "silva", "não", "cpf", "Dias", "DIAS", "dias", "Campos", "alta", "de", "Sra", "o", "E", "J",
		" ", ": ", "=", `"`, "'", "<", ">", "/", "</", "{", "[", "]", "(", ")", ",", ".", "-", "+", "@", "_", "\n", ":", "%20", "%25", "&lt;", "&#49;",
		"&", ";", "&#", "&#185;", `\u00b9`, "\\", `\u0031`, `\n`, "\u200b", "\u0303", "\ufffd", "\x00", "\xff", "\xe7", "１", "①", "Ⓜ", "\u2013", "º",
		"[palavra]", "[número]", "[palavra", "código]", "[data]", "[código]:", "55", "11", "98765", "4321", "123.456.789-09", "12345678909",
		"31/01/1980", "1980", "T10", "jan", "a@b.co", "HTTP", "503", "status", "glosa", "1011", "identificação", "beneficiarix", "codigoGlosa", "550", "5.1.1",
		"SMTP", "30", "s", "seconds", "port", "443", "ws.operadora", "ws.unimed", "x509", "x", "Service Unavailable", "error", "4.7.0", "#",
	}
	rapid.Check(t, func(t *rapid.T) {
		sound(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 4, 16).Draw(t, "pieces"), ""))
	})
}
