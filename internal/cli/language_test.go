package cli_test

import (
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

const (
	inEnglish    = "Claim " + waiting + ", 1 record\n"
	inPortuguese = "Conta " + waiting + ", 1 registro\n"
)

func TestLanguageComesFromFlagThenSettingThenLocale(t *testing.T) {
	for _, test := range []struct {
		settings, flag, want string
	}{
		{"", "", inEnglish},
		{"LANG=pt_BR.UTF-8", "", inPortuguese},
		{"LANG=fr_FR.UTF-8", "", inEnglish},
		{"LANG=pt_BR.UTF-8 LC_MESSAGES=en_US.UTF-8", "", inEnglish},
		{"LANG=en_US.UTF-8 LC_MESSAGES=C LC_ALL=pt_BR.UTF-8", "", inPortuguese},
		{"LC_ALL=pt_BR.UTF-8 RETRY_LANG=en", "", inEnglish},
		{"LC_ALL=en_US.UTF-8 RETRY_LANG=pt-BR", "", inPortuguese},
		{"RETRY_LANG=pt-BR", "en", inEnglish},
		{"", "pt-BR", inPortuguese},
	} {
		a := archived(t, week())
		a.settings = append(a.settings, strings.Fields(test.settings)...)
		args := []string{"history", waiting}
		if test.flag != "" {
			args = append(args, "--lang", test.flag)
		}
		if got := a.must(t, args...); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s --lang %q: got\n%s\nwant %s", test.settings, test.flag, got, test.want)
		}
	}
}

func TestUnknownLanguageIsRefusedByFlagAndSetting(t *testing.T) {
	a := archived(t, week())
	a.fails(t, 2, `worker: --lang is "fr"; give pt-BR or en`, "history", waiting, "--lang", "fr")
	a.settings = append(a.settings, "RETRY_LANG=fr")
	a.fails(t, 2, `RETRY_LANG is "fr"; allowed: pt-BR or en`, "history", waiting)
}

func TestTimesAreInTheZoneThatTheOutputNames(t *testing.T) {
	a := archived(t, week())
	a.prints(t, []string{"history", waiting, "--tz", "America/Sao_Paulo"},
		"due 2026-01-12T07:23:00-03:00 (in 23 min)", "Times: America/Sao_Paulo", "#1 2026-01-12T06:40:00.500-03:00 RETRY", "error received 06:40:00.480 RATE_LIMIT")
	a.prints(t, []string{"history", waiting, "--tz", "Asia/Tokyo", "--lang", "pt-BR"},
		"prevista para 12/01/2026 19:23:00 (em 23 min)", "Horários: Asia/Tokyo", "#1 12/01/2026 18:40:00,500 RETENTATIVA 4 de 5 (RETRY)")
	for _, name := range []string{"Sao_Paulo", "Local", "-03:00"} {
		a.fails(t, 2, "give an IANA time zone, such as America/Sao_Paulo or UTC", "history", waiting, "--tz", name)
	}
}

func TestTheSystemsZoneIsTheDefault(t *testing.T) {
	a := archived(t, week())
	zone, err := time.LoadLocation("America/Sao_Paulo")
	check.Must(t, err)
	system := time.Local
	t.Cleanup(func() { time.Local = system })
	time.Local = zone
	a.prints(t, []string{"history", waiting}, "due 2026-01-12T07:23:00-03:00", "Times: America/Sao_Paulo")
}

func TestJSONHasNoLanguageAndNoZone(t *testing.T) {
	a := archived(t, week())
	want := a.must(t, "history", exhausted, "--json")
	check.Same(t, want, a.must(t, "history", exhausted, "--json", "--lang", "pt-BR", "--tz", "America/Sao_Paulo"), "the JSON")
}
