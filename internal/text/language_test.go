package text_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

func TestOnlyTheTwoLanguagesAreKnown(t *testing.T) {
	var got text.Language
	for name, want := range map[string]text.Language{
		"en": text.English, "EN": text.English, "pt-BR": text.Portuguese, "pt_br": text.Portuguese,
	} {
		check.Must(t, got.Decode(name))
		check.Same(t, want, got, "%s", name)
	}
	for _, name := range []string{"", "fr", "pt", "pt-PT", "en-US", "português", "x"} {
		check.Fails(t, got.Decode(name), "give pt-BR or en")
	}
}

func TestPluralsAreRightInBothLanguages(t *testing.T) {
	for _, test := range []struct {
		n      int
		en, pt string
	}{
		{0, "all 0 retries used", "usadas todas as 0 retentativas"},
		{1, "the 1 retry used", "usada a única retentativa (1)"},
		{2, "all 2 retries used", "usadas todas as 2 retentativas"},
		{1_234_567, "all 1,234,567 retries used", "usadas todas as 1.234.567 retentativas"},
	} {
		s := text.Messagef("all %d retries used", test.n)
		check.Same(t, test.en, s.String(), "en")
		check.Same(t, test.pt, text.In(text.Portuguese).Text(s), "pt-BR")
	}
}

func TestMarksAreInTheLanguageOfTheText(t *testing.T) {
	const stored = "[palavra] [palavras] [número] [número longo] [data] [código]"
	const english = "[word] [words] [number] [long number] [date] [code]"
	s := text.Messagef("Times: %s", text.Redacted(stored))
	check.Same(t, "Horários: "+stored, text.In(text.Portuguese).Text(s), "pt-BR")
	check.Same(t, "Times: "+english, s.String(), "en")
}

func TestATextInATextIsInTheSameLanguage(t *testing.T) {
	inner := text.Messagef("all %d retries used", 1)
	s := text.Messagef("Times: %s", inner)
	check.Same(t, "Horários: usada a única retentativa (1)", text.In(text.Portuguese).Text(s), "pt-BR")
	check.Same(t, "Times: the 1 retry used", s.String(), "en")
	check.Same(t, any(inner), s.Args[0], "the argument")
}
