package kpi_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/kpi"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

var noon = time.Date(2026, 1, 12, 12, 0, 0, 0, time.UTC)

// story makes records of one claim from kinds, a minute apart. Each retry is due ten minutes later.
func story(claim string, begin time.Time, kinds ...audit.Kind) (records []audit.Record) {
	retries, failures, first := 0, 0, begin
	for i, kind := range kinds {
		r := audit.Record{Kind: kind, At: begin.Add(time.Duration(i) * time.Minute), ClaimID: claim, Variables: "{}", RetryCount: retries}
		detail := contract.Detail{}
		switch {
		case kind.IsDecision():
			failures++
			r.Variables = `{"retryDecision":{"policy":"tiss","ruleId":"transient.TIMEOUT","matchedCode":"TIMEOUT"}}`
			if kind == audit.KindRetry {
				retries++
				r.NextRetryTime = r.At.Add(10 * time.Minute)
			}
		case kind.IsOutcome():
			detail.Attempts = failures
			if kind == audit.KindSubmitted {
				detail.Attempts++
			}
			if failures > 0 {
				detail.Policy, detail.FirstFailureTime = "tiss", &first
			}
			retries, failures, first = 0, 0, r.At.Add(time.Minute)
		}
		r.Detail = detail.Encode()
		records = append(records, r)
	}
	return records
}

// many makes the same story of so many claims.
func many(n int, name string, begin time.Time, kinds ...audit.Kind) (records []audit.Record) {
	for i := range n {
		records = append(records, story(fmt.Sprintf("CLM-%s-%d", name, i), begin, kinds...)...)
	}
	return records
}

// measure returns what was measured of the policy tiss up to a time.
func measure(t *testing.T, to time.Time, records ...[]audit.Record) kpi.Result {
	t.Helper()
	all := slices.Concat(records...)
	slices.SortStableFunc(all, func(a, b audit.Record) int { return a.At.Compare(b.At) })
	var tally kpi.Tally
	for i := range all {
		check.Must(t, tally.Add(&all[i]))
	}
	for _, r := range tally.Results(to, targets) {
		if r.Policy == "tiss" {
			return r
		}
	}
	return kpi.Result{}
}

func targets(name string) []retry.Target {
	if p, known := policy.BuiltIns().Get(name); known {
		return p.Targets
	}
	return nil
}

// row is what is expected of a KPI.
type row struct {
	name    string
	value   float64
	of      int64
	verdict kpi.Verdict // against the first target
}

func expect(t *testing.T, r kpi.Result, want ...row) {
	t.Helper()
	for _, w := range want {
		i := slices.IndexFunc(r.KPIs, func(k kpi.Indicator) bool { return k.Name == w.name })
		if i < 0 || r.KPIs[i].Value == nil || math.Abs(*r.KPIs[i].Value-w.value) > 1e-9 || r.KPIs[i].MeasuredOn != w.of || r.KPIs[i].Verdict != w.verdict {
			t.Errorf("got %+v, want %+v", r.KPIs, w)
		}
	}
}

const (
	again, stop, never            = audit.KindRetry, audit.KindExhausted, audit.KindPermanent
	accepted, byHand, givenUp     = audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned
	rejected, undelivered, onward = audit.KindRejected, audit.KindUndelivered, audit.KindRedriven
)

// The night of which 400 claims failed: 25 were accepted after retries, 22 were permanent, 53 wait, and of an insurer that was away
// for long 300 used up their retries. Next day a person has these sent again, and the insurer takes them.
func TestAnOutageIsNoSuccessAndARescuedClaimIsNotLost(t *testing.T) {
	night := [][]audit.Record{
		many(25, "accepted", noon, again, accepted), many(22, "permanent", noon, never), many(53, "waiting", noon, again),
		many(300, "outage", noon, again, again, again, again, again, stop),
	}
	at := noon.Add(8 * time.Minute)
	before := measure(t, at, night...)
	expect(t, before,
		row{"successAfterRetry", 25.0 / 325, 325, kpi.Missed}, row{"retriesUsedUp", 0.75, 400, kpi.Missed}, row{"claimsLost", 300.0 / 378, 378, kpi.Missed})
	check.Same(t, kpi.Outcomes{
		Sent: 400, AcceptedAfterRetry: 25, Open: map[claims.State]int64{claims.Waiting: 53, claims.Stopped: 322}, OldestOpen: &noon,
	}, before.Claims, "the claims at night")

	sentAgain := many(300, "outage", noon.Add(20*time.Hour), byHand)
	for i := range sentAgain {
		sentAgain[i].Detail = (&contract.Detail{Attempts: 6, Policy: "tiss", FirstFailureTime: &noon}).Encode()
	}
	under := measure(t, noon.Add(20*time.Hour+time.Second), append(night, sentAgain)...)
	expect(t, under, row{"successAfterRetry", 1, 25, kpi.Met}, row{"claimsLost", 0, 378, kpi.Met})
	check.Same(t, int64(300), under.Claims.Open[claims.Redriven], "claims that were sent again")

	after := measure(t, noon.Add(21*time.Hour), append(night, sentAgain, many(300, "outage", noon.Add(20*time.Hour+time.Minute), accepted))...)
	expect(t, after,
		row{"successAfterRetry", 1, 325, kpi.Met}, row{"claimsLost", 0, 378, kpi.Met}, row{"retriesUsedUp", 0.75, 400, kpi.Missed},
		row{"meanAttemptsToSuccess", (25*2 + 300*7) / 325.0, 325, kpi.Missed}, row{"endedWithin24h", 1, 325, kpi.NoTarget})
	check.Same(t, int64(300), after.Claims.AcceptedAfterPerson, "claims accepted after a person sent them again")
	check.Same(t, int64(325), after.Claims.Accepted(), "claims accepted in the end")
}

func TestWithoutDataNoKPIHasAVerdict(t *testing.T) {
	r := measure(t, noon, many(1, "x", noon, rejected), many(1, "y", noon, again)[:0])
	for _, k := range r.KPIs {
		if k.Verdict != kpi.NoData || k.Value != nil {
			t.Errorf("%s: %s", k.Name, k.Verdict)
		}
	}
}

func TestEveryTargetHasItsRow(t *testing.T) {
	var rows []string
	for _, k := range measure(t, noon, many(1, "x", noon, again)).KPIs {
		rows = append(rows, k.Name+" "+k.Source)
	}
	for _, target := range targets("tiss") {
		if !slices.Contains(rows, target.KPI+" "+target.Source) {
			t.Errorf("no row for %+v in %q", target, rows)
		}
	}
}

func TestSuccessCountsRetriedClaimsThatAreNotUnderWay(t *testing.T) {
	open := many(9, "open", noon, again)
	ends := [][]audit.Record{open, many(4, "ok", noon, again, accepted), many(1, "given-up", noon, again, givenUp), many(3, "at-once", noon, accepted), many(2, "never", noon, never)}
	expect(t, measure(t, noon.Add(5*time.Minute), ends...), row{"successAfterRetry", 0.8, 5, kpi.Met})
	ends = append(ends, many(1, "stopped", noon, again, never))
	expect(t, measure(t, noon.Add(5*time.Minute), ends...), row{"successAfterRetry", 4.0 / 6, 6, kpi.Missed})
}

func TestTimeToSuccessIsFromTheFirstFailureOfAnyRound(t *testing.T) {
	late := slices.Concat(story("CLM-a-1", noon, again, never, byHand), story("CLM-a-1", noon.Add(5*time.Hour), accepted))
	fast := story("CLM-b-1", noon, again, accepted)
	r := measure(t, noon.Add(6*time.Hour), late, fast, many(3, "at-once", noon, accepted))
	expect(t, r, row{"meanTimeToSuccess", (5*3600 + 60) / 2, 2, kpi.Missed}, row{"medianTimeToSuccess", (5*3600 + 60) / 2, 2, kpi.Missed})
}

// The claim failed and was sent again by a person in the month before.
func TestAnAcceptanceKnowsWhatWasBeforeTheTimeThatIsMeasured(t *testing.T) {
	opened := noon.Add(-72 * time.Hour)
	last := story("CLM-a-1", noon, accepted)
	last[0].Detail = (&contract.Detail{Attempts: 1, Policy: "tiss", OpenedAt: &opened, Resubmitted: true}).Encode()
	r := measure(t, noon.Add(time.Hour), last)
	check.Same(t, int64(1), r.Claims.AcceptedAfterPerson, "claims accepted after a person sent them again")
	expect(t, r, row{"meanTimeToSuccess", 72 * 3600, 1, kpi.Missed}, row{"endedWithin48h", 0, 1, kpi.NoTarget})
}

func TestASuccessIsNeverBeforeTheFailure(t *testing.T) {
	early := story("CLM-a-1", noon, again, accepted)
	first := noon.Add(time.Hour) // by the clock of another replica
	early[0].At, early[1].Detail = first, (&contract.Detail{Attempts: 2, Policy: "tiss", FirstFailureTime: &first}).Encode()
	early[1].RetryCount = 1
	expect(t, measure(t, noon.Add(time.Minute), early[1:]), row{"meanTimeToSuccess", 0, 1, kpi.Met})
}

func TestClaimsThatNeverFailedCountAsOneAttempt(t *testing.T) {
	r := measure(t, noon.Add(time.Hour), many(1, "retried", noon, again, accepted), many(4, "at-once", noon, accepted), many(1, "given-up", noon, again, givenUp))
	expect(t, r, row{"meanAttemptsToSuccess", 1.2, 5, kpi.Met})
}

func TestPermanentErrorsAreAShareOfAllErrors(t *testing.T) {
	one, nine := many(1, "p", noon, never), many(9, "r", noon, again)
	expect(t, measure(t, noon, one, nine, many(5, "x", noon, rejected)), row{"permanentErrors", 0.1, 10, kpi.Missed}) // the target is below a tenth
	expect(t, measure(t, noon, one, many(10, "r", noon, again)), row{"permanentErrors", 1.0 / 11, 11, kpi.Met})
}

func TestUsedUpRetriesAreAShareOfClaims(t *testing.T) {
	one := story("CLM-a-1", noon, again, again, again, again, again, stop)
	expect(t, measure(t, noon.Add(time.Hour), one, many(18, "r", noon, again), many(1, "p", noon, never)),
		row{"retriesUsedUp", 0.05, 20, kpi.Missed}, // the target is below a twentieth
		row{"claimsLost", 1.0 / 19, 19, kpi.Missed})
	expect(t, measure(t, noon.Add(time.Hour), one[5:], many(40, "r", noon, again)), row{"retriesUsedUp", 1.0 / 41, 41, kpi.Met})
	expect(t, measure(t, noon, many(1, "sent-again", noon, stop, onward, again)), row{"retriesUsedUp", 1, 1, kpi.Missed})
}

func TestClaimsThatAreOpenForLongMissTheDay(t *testing.T) {
	fast, slow := many(3, "fast", noon, again, accepted), many(1, "slow", noon, never)
	expect(t, measure(t, noon.Add(time.Hour), fast, slow), row{"endedWithin24h", 1, 3, kpi.NoTarget})
	expect(t, measure(t, noon.Add(25*time.Hour), fast, slow), row{"endedWithin24h", 0.75, 4, kpi.NoTarget}, row{"endedWithin48h", 1, 3, kpi.NoTarget})
	expect(t, measure(t, noon.Add(49*time.Hour), fast, slow), row{"endedWithin48h", 0.75, 4, kpi.NoTarget})
}

func TestAClaimThatFailsAfterItsEndIsOpenAnew(t *testing.T) {
	r := measure(t, noon.Add(72*time.Hour), story("CLM-a-1", noon, again, accepted), story("CLM-a-1", noon.Add(71*time.Hour), again, undelivered))
	since := noon.Add(71 * time.Hour)
	check.Same(t, kpi.Outcomes{Sent: 1, Open: map[claims.State]int64{claims.Overdue: 1}, OldestOpen: &since}, r.Claims, "the claim")
}

func TestCausesAreCountedByRuleAndCode(t *testing.T) {
	r := measure(t, noon, many(2, "a", noon, again, again), many(1, "b", noon, onward))
	check.Same(t, []kpi.CauseCount{{Cause: kpi.Cause{RuleID: "transient.TIMEOUT", MatchedCode: "TIMEOUT"}, Failures: 4}}, r.Causes, "causes")
}

func TestUnreadableRecordIsAnError(t *testing.T) {
	broken := story("CLM-a-1", noon, accepted)
	broken[0].ID, broken[0].Detail = 7, `{"attempts":`
	if err := new(kpi.Tally).Add(&broken[0]); err == nil {
		t.Error("no error")
	}
}
