package kpi_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/kpi"
	"hospital.example/analyze-retry/internal/testing/check"
)

var noon = time.Date(2026, 1, 12, 12, 0, 0, 0, time.UTC)

// decisions makes so many decisions of a kind, each about a claim of its own.
func decisions(n int, kind audit.Kind, prefix string) (records []audit.Record) {
	for i := range n {
		records = append(records, audit.Record{Kind: kind, At: noon, ClaimID: fmt.Sprintf("CLM-%s-%d", prefix, i)})
	}
	return records
}

// outcome is the end of a round that began to fail so long ago; a negative time is not known.
func outcome(kind audit.Kind, retries, attempts int, took time.Duration) audit.Record {
	d := contract.Detail{Attempts: attempts}
	if first := noon.Add(-took); took >= 0 {
		d.FirstFailureTime = &first
	}
	return audit.Record{Kind: kind, At: noon, ClaimID: "CLM-1-1", RetryCount: retries, Variables: "{}", Detail: d.Encode()}
}

// row is what is expected of a row of the table.
type row struct {
	name, rule string
	value      float64
	of         int64
	verdict    kpi.Verdict
}

// expect measures the KPIs of records.
func expect(t *testing.T, records []audit.Record, want ...row) {
	t.Helper()
	var tally kpi.Tally
	for i := range records {
		check.Must(t, tally.Add(&records[i]))
	}
	for _, w := range want {
		all := tally.Indicators()
		i := slices.IndexFunc(all, func(k kpi.Indicator) bool { return k.Name == w.name && k.Rule == w.rule })
		if i < 0 || all[i].Value == nil || math.Abs(*all[i].Value-w.value) > 1e-9 || all[i].MeasuredOn != w.of || all[i].Verdict != w.verdict {
			t.Errorf("got %+v, want %+v", all, w)
		}
	}
}

const (
	rule     = "RN-BIL-005"
	rnBIL004 = "RN-BIL-004"
)

func TestWithoutDataNoKPIHasAVerdict(t *testing.T) {
	kpis := new(kpi.Tally).Indicators()
	if len(kpis) != 8 {
		t.Errorf("%d KPIs, want those of both documents", len(kpis))
	}
	for _, k := range kpis {
		if k.Verdict != kpi.NoData || k.Value != nil {
			t.Errorf("%s of %s: %s", k.Name, k.Rule, k.Verdict)
		}
	}
}

func TestSuccessCountsRetriedRoundsThatEnded(t *testing.T) {
	ends := []audit.Record{
		outcome(audit.KindSubmitted, 0, 1, -1), // never failed, so that no retry helped it
		outcome(audit.KindResubmitted, 5, 6, time.Hour),
		outcome(audit.KindAbandoned, 0, 1, time.Hour), // permanent at once: no retry failed it
	}
	ends = append(ends, slices.Repeat([]audit.Record{outcome(audit.KindSubmitted, 1, 2, time.Minute)}, 4)...)
	expect(t, append(decisions(9, audit.KindRetry, "open"), ends...),
		row{"successAfterRetry", rule, 0.8, 5, kpi.Met}, row{"successAfterRetry", rnBIL004, 0.8, 5, kpi.Missed})
	expect(t, append(ends, outcome(audit.KindAbandoned, 2, 3, time.Hour)), row{"successAfterRetry", rule, 4.0 / 6, 6, kpi.Missed})
}

func TestTimeToSuccessIsThatOfRetriedRounds(t *testing.T) {
	ends := []audit.Record{
		outcome(audit.KindSubmitted, 0, 1, 0), outcome(audit.KindAbandoned, 1, 2, 90*time.Hour),
		outcome(audit.KindSubmitted, 1, 2, -1), // purged: its first failure is not known any more
		outcome(audit.KindSubmitted, 1, 2, 5*time.Hour), outcome(audit.KindSubmitted, 1, 2, 30*time.Minute), outcome(audit.KindSubmitted, 1, 2, 30*time.Minute),
	}
	expect(t, ends, row{"meanTimeToSuccess", rule, 7200, 3, kpi.Met}, row{"medianTimeToSuccess", rnBIL004, 1800, 3, kpi.Met})
	expect(t, append(ends, outcome(audit.KindSubmitted, 1, 2, 2*time.Hour+4*time.Second)),
		row{"meanTimeToSuccess", rule, 7201, 4, kpi.Missed}, row{"medianTimeToSuccess", rnBIL004, (1800 + 7204) / 2, 4, kpi.Missed})
}

func TestASuccessIsNeverBeforeTheFailure(t *testing.T) {
	early := outcome(audit.KindSubmitted, 1, 2, 0)
	early.At = early.At.Add(-time.Second) // by the clock of another replica
	expect(t, []audit.Record{early}, row{"meanTimeToSuccess", rule, 0, 1, kpi.Met})
}

func TestMeanOfManyYearsDoesNotOverflow(t *testing.T) {
	all := slices.Repeat([]audit.Record{outcome(audit.KindSubmitted, 1, 2, 5*365*24*time.Hour)}, 200)
	expect(t, all, row{"meanTimeToSuccess", rule, 5 * 365 * 24 * 3600, 200, kpi.Missed})
}

func TestPermanentErrorsAreAShareOfAllErrors(t *testing.T) {
	one, nine := decisions(1, audit.KindPermanent, "p"), decisions(9, audit.KindRetry, "r")
	expect(t, slices.Concat(one, nine, decisions(5, audit.KindRejected, "x")), row{"permanentErrors", rule, 0.1, 10, kpi.Missed}) // the target is below a tenth
	expect(t, slices.Concat(one, nine, nine[:1]), row{"permanentErrors", rule, 1.0 / 11, 11, kpi.Met})
}

func TestUsedUpRetriesAreAShareOfClaims(t *testing.T) {
	// One claim has all of its six decisions, nineteen others one each, and one of those is permanent.
	lost := slices.Repeat([]audit.Record{{Kind: audit.KindRetry, At: noon, ClaimID: "CLM-lost-1"}}, 5)
	end := []audit.Record{{Kind: audit.KindExhausted, At: noon, ClaimID: "CLM-lost-1"}}
	expect(t, slices.Concat(lost, end, decisions(18, audit.KindRetry, "r"), decisions(1, audit.KindPermanent, "p")),
		row{"retriesUsedUp", rule, 0.05, 20, kpi.Missed}, // the target is below a twentieth
		row{"claimsLost", rnBIL004, 1.0 / 19, 19, kpi.Missed})
	expect(t, slices.Concat(end, decisions(40, audit.KindRetry, "r")),
		row{"retriesUsedUp", rule, 1.0 / 41, 41, kpi.Met},
		row{"claimsLost", rnBIL004, 1.0 / 41, 41, kpi.Met}) // the retries of the lost one were earlier
}

func TestAttemptsAreCountedOverAllAcceptedRounds(t *testing.T) {
	ends := append([]audit.Record{outcome(audit.KindSubmitted, 1, 2, 0), outcome(audit.KindAbandoned, 5, 6, 0)},
		slices.Repeat([]audit.Record{outcome(audit.KindSubmitted, 0, 1, -1)}, 4)...)
	expect(t, ends, row{"meanAttemptsToSuccess", rnBIL004, 1.2, 5, kpi.Met})
	expect(t, ends[:5], row{"meanAttemptsToSuccess", rnBIL004, 1.25, 4, kpi.Missed})
}

func TestUnreadableRecordIsAnError(t *testing.T) {
	broken := outcome(audit.KindSubmitted, 1, 2, 0)
	broken.ID, broken.Detail = 7, `{"attempts":`
	if err := new(kpi.Tally).Add(&broken); err == nil {
		t.Error("no error")
	}
}
