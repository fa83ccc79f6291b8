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

func TestALocaleOfAnotherLanguageIsEnglish(t *testing.T) {
	for locale, want := range map[string]text.Language{
		"pt_BR.UTF-8": text.Portuguese, "pt_BR": text.Portuguese, "pt": text.Portuguese, "pt_PT.UTF-8": text.Portuguese,
		"pt-BR": text.Portuguese, "pt_BR@abnt": text.Portuguese, "en_US.UTF-8": text.English, "de_DE.UTF-8": text.English,
		"C": text.English, "C.UTF-8": text.English, "POSIX": text.English, "": text.English, "?": text.English,
	} {
		check.Same(t, want, text.OfLocale(locale), "%q", locale)
	}
}

func TestPluralsAreRightInBothLanguages(t *testing.T) {
	for _, test := range []struct {
		n      int
		en, pt string
	}{
		{0, "0 records", "0 registros"},
		{1, "1 record", "1 registro"},
		{2, "2 records", "2 registros"},
		{1_234_567, "1,234,567 records", "1.234.567 registros"},
	} {
		s := text.Messagef("%d records", test.n)
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
	inner := text.Messagef("%d records", 1)
	s := text.Messagef("Times: %s", inner)
	check.Same(t, "Horários: 1 registro", text.In(text.Portuguese).Text(s), "pt-BR")
	check.Same(t, "Times: 1 record", s.String(), "en")
	check.Same(t, any(inner), s.Args[0], "the argument")
}
