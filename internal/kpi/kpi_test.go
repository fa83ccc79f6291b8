package kpi_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/kpi"
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
	text, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return audit.Record{Kind: kind, At: noon, ClaimID: "CLM-1-1", RetryCount: retries, Variables: "{}", Detail: string(text)}
}

func tallied(t *testing.T, records ...[]audit.Record) *kpi.Tally {
	t.Helper()
	var tally kpi.Tally
	for _, some := range records {
		for i := range some {
			if err := tally.Add(&some[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return &tally
}

// row is what is expected of a row of the table.
type row struct {
	name, rule string
	value      float64
	of         int64
	verdict    kpi.Verdict
}

func expect(t *testing.T, tally *kpi.Tally, want row) {
	t.Helper()
	for _, k := range tally.Indicators() {
		if k.Name == want.name && k.Rule == want.rule {
			if k.Value == nil || math.Abs(*k.Value-want.value) > 1e-9 || k.MeasuredOn != want.of || k.Verdict != want.verdict {
				t.Errorf("got %+v, want %+v", k, want)
			}
			return
		}
	}
	t.Errorf("there is no %s of %s", want.name, want.rule)
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
	for range 4 {
		ends = append(ends, outcome(audit.KindSubmitted, 1, 2, time.Minute))
	}
	tally := tallied(t, ends, decisions(9, audit.KindRetry, "open"))
	expect(t, tally, row{"successAfterRetry", rule, 0.8, 5, kpi.Met})
	expect(t, tally, row{"successAfterRetry", rnBIL004, 0.8, 5, kpi.Missed})

	tally = tallied(t, ends, []audit.Record{outcome(audit.KindAbandoned, 2, 3, time.Hour)})
	expect(t, tally, row{"successAfterRetry", rule, 4.0 / 6, 6, kpi.Missed})
}

func TestTimeToSuccessIsThatOfRetriedRounds(t *testing.T) {
	submitted := func(took ...time.Duration) (all []audit.Record) {
		for _, d := range took {
			all = append(all, outcome(audit.KindSubmitted, 1, 2, d))
		}
		return all
	}
	others := []audit.Record{
		outcome(audit.KindSubmitted, 0, 1, 0), outcome(audit.KindAbandoned, 1, 2, 90*time.Hour),
		outcome(audit.KindSubmitted, 1, 2, -1), // purged: its first failure is not known any more
	}
	tally := tallied(t, submitted(5*time.Hour, 30*time.Minute, 30*time.Minute), others)
	expect(t, tally, row{"meanTimeToSuccess", rule, 7200, 3, kpi.Met})
	expect(t, tally, row{"medianTimeToSuccess", rnBIL004, 1800, 3, kpi.Met})

	tally = tallied(t, submitted(5*time.Hour, 30*time.Minute, 30*time.Minute, 2*time.Hour+4*time.Second), others)
	expect(t, tally, row{"meanTimeToSuccess", rule, 7201, 4, kpi.Missed})
	expect(t, tally, row{"medianTimeToSuccess", rnBIL004, (1800 + 7204) / 2, 4, kpi.Missed})
}

func TestASuccessIsNeverBeforeTheFailure(t *testing.T) {
	early := outcome(audit.KindSubmitted, 1, 2, 0)
	early.At = early.At.Add(-time.Second) // by the clock of another replica
	expect(t, tallied(t, []audit.Record{early}), row{"meanTimeToSuccess", rule, 0, 1, kpi.Met})
}

func TestMeanOfManyYearsDoesNotOverflow(t *testing.T) {
	all := make([]audit.Record, 200)
	for i := range all {
		all[i] = outcome(audit.KindSubmitted, 1, 2, 5*365*24*time.Hour)
	}
	expect(t, tallied(t, all), row{"meanTimeToSuccess", rule, 5 * 365 * 24 * 3600, 200, kpi.Missed})
}

func TestPermanentErrorsAreAShareOfAllErrors(t *testing.T) {
	tally := tallied(t, decisions(1, audit.KindPermanent, "p"), decisions(9, audit.KindRetry, "r"), decisions(5, audit.KindRejected, "x"))
	expect(t, tally, row{"permanentErrors", rule, 0.1, 10, kpi.Missed}) // the target is below a tenth
	tally = tallied(t, decisions(1, audit.KindPermanent, "p"), decisions(10, audit.KindRetry, "r"))
	expect(t, tally, row{"permanentErrors", rule, 1.0 / 11, 11, kpi.Met})
}

func TestUsedUpRetriesAreAShareOfClaims(t *testing.T) {
	// One claim has all of its six decisions, nineteen others one each, and one of those is permanent.
	lost := audit.Record{Kind: audit.KindRetry, At: noon, ClaimID: "CLM-lost-1"}
	end := audit.Record{Kind: audit.KindExhausted, At: noon, ClaimID: "CLM-lost-1"}
	tally := tallied(t, []audit.Record{lost, lost, lost, lost, lost, end}, decisions(18, audit.KindRetry, "r"), decisions(1, audit.KindPermanent, "p"))
	expect(t, tally, row{"retriesUsedUp", rule, 0.05, 20, kpi.Missed}) // the target is below a twentieth
	expect(t, tally, row{"claimsLost", rnBIL004, 1.0 / 19, 19, kpi.Missed})

	tally = tallied(t, []audit.Record{end}, decisions(40, audit.KindRetry, "r"))
	expect(t, tally, row{"retriesUsedUp", rule, 1.0 / 41, 41, kpi.Met})
	expect(t, tally, row{"claimsLost", rnBIL004, 1.0 / 41, 41, kpi.Met}) // the retries of the lost one were earlier
}

func TestAttemptsAreCountedOverAllAcceptedRounds(t *testing.T) {
	ends := []audit.Record{outcome(audit.KindSubmitted, 1, 2, 0), outcome(audit.KindAbandoned, 5, 6, 0)}
	for range 4 {
		ends = append(ends, outcome(audit.KindSubmitted, 0, 1, -1))
	}
	expect(t, tallied(t, ends), row{"meanAttemptsToSuccess", rnBIL004, 1.2, 5, kpi.Met})
	expect(t, tallied(t, ends[:5]), row{"meanAttemptsToSuccess", rnBIL004, 1.25, 4, kpi.Missed})
}

func TestUnreadableRecordIsAnError(t *testing.T) {
	broken := outcome(audit.KindSubmitted, 1, 2, 0)
	broken.ID, broken.Detail = 7, `{"attempts":`
	if err := new(kpi.Tally).Add(&broken); err == nil {
		t.Error("no error")
	}
}
