package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAReportOfATimeThatHasPassedIsTheSameForEver(t *testing.T) {
	a := archived(t, week())
	january := []string{"report", "--from", "2026-01-11", "--to", "2026-01-11", "--lang", "pt-BR"}
	before := a.must(t, january...)
	a.heads(t, keyed([]audit.Record{
		ended{audit.KindSubmitted, hostile, "2026-01-12T09:55:00Z", 2, 1, "2026-01-11T20:00:00Z"}.record(),
		decided{audit.KindPermanent, "CLM-ENC-009-1", "2026-01-12T09:56:00Z", "502", "TRANSIENT", "502", 0, 0, 0}.record(),
	})...)
	check.Same(t, before, a.must(t, january...), "the report of the 11th")
	for _, part := range []string{"foi conferida", "2 de 2", hostile} {
		if !strings.Contains(before, part) {
			t.Errorf("%q is not in\n%s", part, before)
		}
	}
}

// Also of those that the list has no room for.
func TestAReportSaysWithWhomTheOpenClaimsAre(t *testing.T) {
	var all []audit.Record
	for i, team := range []string{"billing", "registration", "operations", "", "billing", "billing", "billing", "billing", "billing", "billing", "registration"} {
		r := decided{audit.KindPermanent, fmt.Sprintf("CLM-T-%d", i), "2026-01-11T10:00:00Z", "X", "PERMANENT", "X", 0, 0, 0}.record()
		r.HeldBy = team
		all = append(all, r)
	}
	a := archived(t, keyed(all))
	a.prints(t, []string{"report", "--day", "2026-01-11", "--lang", "pt-BR"}, "parada 11; faturamento 7, cadastro 2, operações 1.")
}

func TestAReportListsNoOpenClaimAsAnEmptyList(t *testing.T) {
	archived(t, week()).prints(t, []string{"report", "--day", "2026-01-01", "--json"}, `"oldest": []`)
}

// The targets are two hours, five minutes and 1.2.
func TestAMeanThatMissesItsTargetByALittleDoesNotLookLikeIt(t *testing.T) {
	for value, want := range map[float64]string{7200: "120 min", 7200.5: "121 min", 300: "5 min", 300.5: "5 min 1 s"} {
		check.Same(t, want, cli.Measured(retry.Seconds, value), "%v seconds", value)
	}
	for value, want := range map[float64]string{1.2: "1.2", 1.2001: "1.21", 1.96: "1.96", 2: "2"} {
		check.Same(t, want, cli.Measured(retry.Number, value), "%v", value)
	}
}

func TestAPeriodBeginsAtTheFirstInstantOfItsDay(t *testing.T) {
	for _, c := range []struct{ zone, flag, value, want string }{
		{"America/Sao_Paulo", "month", "2026-11", "2026-11-01T03:00:00Z to 2026-12-01T03:00:00Z"},
		{"America/Sao_Paulo", "month", "last", "2025-12-01T03:00:00Z to 2026-01-01T03:00:00Z"},
		{"UTC", "day", "yesterday", "2026-01-11T00:00:00Z to 2026-01-12T00:00:00Z"},
		{"UTC", "week", "last", "2026-01-05T00:00:00Z to 2026-01-12T00:00:00Z"}, // today is a Monday
		{"UTC", "week", "2026-01-01", "2025-12-29T00:00:00Z to 2026-01-05T00:00:00Z"},
		{"UTC", "week", "2026-01-04", "2025-12-29T00:00:00Z to 2026-01-05T00:00:00Z"}, // a Sunday
		{"UTC", "day", "Ontem", "2026-01-11T00:00:00Z to 2026-01-12T00:00:00Z"},
		{"UTC", "week", "passada", "2026-01-05T00:00:00Z to 2026-01-12T00:00:00Z"},
		{"UTC", "month", "passado", "2025-12-01T00:00:00Z to 2026-01-01T00:00:00Z"},
		{"UTC", "week", "2026-11", `--week is "2026-11"; give it as 2026-11-30 or last`},
		{"UTC", "day", "last", `--day is "last"; give it as 2026-11-30 or yesterday`},
		{"UTC", "from", "yesterday", `--from is "yesterday"; give it as 2026-11-30`},
		{"UTC", "from", "2026-11-01", "2026-11-01T00:00:00Z to 0001-01-01T00:00:00Z"},
		{"UTC", "to", "2026-11-30", "0001-01-01T00:00:00Z to 2026-12-01T00:00:00Z"},
		// Clocks go forward at midnight, back at midnight, and back at one.
		{"America/Santiago", "day", "2026-09-06", "2026-09-06T04:00:00Z to 2026-09-07T03:00:00Z"},
		{"America/Sao_Paulo", "day", "2018-11-03", "2018-11-03T03:00:00Z to 2018-11-04T03:00:00Z"},
		{"America/Sao_Paulo", "day", "2018-11-04", "2018-11-04T03:00:00Z to 2018-11-05T02:00:00Z"},
		{"America/Sao_Paulo", "day", "2018-02-18", "2018-02-18T03:00:00Z to 2018-02-19T03:00:00Z"},
		{"America/Havana", "day", "2026-11-01", "2026-11-01T04:00:00Z to 2026-11-02T05:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		check.Must(t, err)
		check.Same(t, c.want, cli.PeriodOf(c.flag, c.value, today, zone), "--%s %s in %s", c.flag, c.value, c.zone)
	}
}
