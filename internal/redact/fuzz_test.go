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
	f.Add("\xff\x00 nome: \xe1\xe1 [CPF] %25%25 &amp;amp; \\\\\\")
	f.Fuzz(func(t *testing.T, text string) { sound(t, text) })
}

// Pieces that mean something to the searches, in any order, find what random characters never would.
func TestASecondRunChangesNothing(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"nome", "paciente", "Maria", "da", "SILVA", "silva", "não", "cpf", "CNS", "tel", "nascimento", "de", "Sra", "cartão", "o", "cnpj",
		" ", ": ", "=", `"`, "'", "<", ">", "/", "</", "{", "[", "]", "(", ")", ",", ".", "-", "+", "@", "_", "\n", "%20", "%2B", "%25", "&lt;", "&#49;",
		"&", ";", "\\", `\u0031`, `\n`, "\u200b", "\u0303", "\ufffd", "\x00", "\xff", "１", "[CPF]", "[NAME]", "[PHONE", "CPF]", "55", "11", "98765",
		"4321", "123.456.789-09", "12345678909", "3456-7890", "898001160651851", "4111 1111 1111 1111", "31/01/1980", "1980", "jan", "a@b.co",
		"uol.com.br", "pac", "usuário", "RN", "e", "ANA", ";", "D.N.", "D", "nº", "529,982,247-25", "529.98224725", `"a b"@c.co`, "12.ABC.345/01DE-35", "1", "123",
	}
	rapid.Check(t, func(t *rapid.T) {
		sound(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 4, 16).Draw(t, "pieces"), ""))
	})
}

func TestATextWithNothingToFindIsReturnedItselfWithoutAllocation(t *testing.T) {
	for text := range redacttest.Ordinary(4) {
		if redact.Text(text) != text {
			continue
		}
		if n := testing.AllocsPerRun(1, func() { redact.Text(text) }); n > 0 {
			t.Fatalf("%v allocations for %q", n, text)
		}
		if n := len(text); n == 60 {
			break
		}
	}
}
