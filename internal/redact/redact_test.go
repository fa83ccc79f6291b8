package redact_test

import (
	"os"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

func TestTextsAreMaskedAsWrittenDown(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(t, "testdata/masks.tsv", 3) {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			text, want := row[1], row[2]
			if want == "=" {
				want = text
			}
			if got := redact.Text(text); got != want {
				t.Errorf("%q\n becomes %q,\n    want %q", text, got, want)
			}
			sound(t, text)
		})
	}
}

const maxStored = 8 << 10

// What is stored is bounded, and ends with a whole word or mark. Nothing stays of a name that the end cuts.
func TestTextIsBoundedByWholeWordsAndMarks(t *testing.T) {
	t.Parallel()
	const piece = "sistema "
	for _, tt := range []struct{ name, tail, leak string }{
		{"a name that is a word", "Dias Xavier", "Dias"},
		{"a name before a particle", "Campos de Xavier", "Campos"},
		{"a name behind its field", "paciente dias campos", "dias"},
		{"letters", "J O S E", "J O"},
		{"a number that begins like a status", "HTTP 503.456.789-09", "503"},
		{"a code", "HTTP 503ABC", "503"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for size := maxStored - len(tt.tail) - 8; size < maxStored+4; size++ {
				head := strings.Repeat(piece, size/len(piece)) + strings.Repeat(" ", size%len(piece))
				got := redact.Text(head + tt.tail + strings.Repeat(" "+piece, 500))
				broken := strings.Count(got, "[") != strings.Count(got, "]")
				if len(got) > maxStored || strings.Contains(got, tt.leak) || broken {
					t.Fatalf("behind %d bytes: %d bytes, ...%q", size, len(got), got[max(0, len(got)-200):])
				}
				sound(t, got)
			}
		})
	}
}

func TestMarksMakeNoTextTooLong(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"a1;", "Xavier; ", "\xc3; "} {
		got := redact.Text(strings.Repeat(piece, 100<<10/len(piece)))
		if len(got) > maxStored || len(got) < maxStored-len("[palavra]; ") || strings.Contains(got, "X") {
			t.Errorf("%q: %d bytes, ...%q", piece, len(got), got[max(0, len(got)-40):])
		}
	}
}

// The marks are stored in Portuguese, and are read in the language of the reader.
func TestMarksAreShownInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	const stored = "[palavra] [palavras] [número] [número longo] [data] [código] sistema"
	check.Same(t, stored, text.In(text.Portuguese).Redacted(stored), "Portuguese")
	english := text.In(text.English).Redacted(stored)
	check.Same(t, "[word] [words] [number] [long number] [date] [code] sistema", english, "English")
	check.Same(t, english, redact.Text(english), "an English one that somebody gives as a reason")
}

// docs/pt-BR/auditoria.md shows the marks, and an example of them.
func TestExampleInTheDocumentationHolds(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/pt-BR/auditoria.md")
	check.Must(t, err)
	const example = "Paciente: João Alta da Silva, CPF 123.456.789-09, glosa 1011"
	for _, shown := range []string{example, redact.Text(example), "[palavra]", "[palavras]", "[número]", "[número longo]", "[data]", "[código]"} {
		check.Contains(t, string(page), "`"+shown+"`")
	}
}
