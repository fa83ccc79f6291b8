package lang_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/lang"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestOnlyTheTwoLanguagesAreKnown(t *testing.T) {
	for name, want := range map[string]lang.Language{"en": lang.English, "EN": lang.English, "pt-BR": lang.Portuguese, "pt_br": lang.Portuguese} {
		got, err := lang.Parse(name)
		check.Must(t, err)
		check.Same(t, want, got, "%s", name)
	}
	for _, name := range []string{"", "fr", "pt", "pt-PT", "en-US", "português", "x"} {
		_, err := lang.Parse(name)
		check.Fails(t, err, "give pt-BR or en")
	}
}

func TestALocaleOfAnotherLanguageIsEnglish(t *testing.T) {
	for locale, want := range map[string]lang.Language{
		"pt_BR.UTF-8": lang.Portuguese, "pt_BR": lang.Portuguese, "pt": lang.Portuguese, "pt_PT.UTF-8": lang.Portuguese, "pt_BR@abnt": lang.Portuguese,
		"pt-BR": lang.Portuguese, "pt.UTF-8": lang.Portuguese, "pt@abnt": lang.Portuguese, "ptx_BR": lang.English,
		"en_US.UTF-8": lang.English, "de_DE.UTF-8": lang.English, "C": lang.English, "C.UTF-8": lang.English, "POSIX": lang.English, "": lang.English, "?": lang.English,
	} {
		check.Same(t, want, lang.OfLocale(locale), "%q", locale)
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
		text := lang.Textf("%d records", test.n)
		check.Same(t, test.en, text.String(), "en")
		check.Same(t, test.pt, lang.In(lang.Portuguese).Text(text), "pt-BR")
	}
}

func TestATextInATextIsInTheSameLanguage(t *testing.T) {
	inner := lang.Textf("%d records", 1)
	text := lang.Textf("Times: %s", inner)
	check.Same(t, "Horários: 1 registro", lang.In(lang.Portuguese).Text(text), "pt-BR")
	check.Same(t, "Times: 1 record", text.String(), "en")
	check.Same(t, any(inner), text.Args[0], "the argument")
}
