package kpi_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

var noon = time.Date(2026, 1, 12, 12, 0, 0, 0, time.UTC)

// event is a record of a claim at a time.
type event struct {
	claim string
	at    time.Time
	kind  audit.Kind
	sent  time.Duration // before it, 0 where that is not known
}

// story makes events of one claim, a minute apart.
func story(claim string, begin time.Time, kinds ...audit.Kind) (events []event) {
	for i, kind := range kinds {
		events = append(events, event{claim, begin.Add(time.Duration(i) * time.Minute), kind, 0})
	}
	return events
}

// many makes the same story of so many claims.
func many(n int, name string, begin time.Time, kinds ...audit.Kind) (events []event) {
	for i := range n {
		events = append(events, story(fmt.Sprintf("CLM-%s-%d", name, i), begin, kinds...)...)
	}
	return events
}

// make makes the record. Each retry is due ten minutes later, and the policy of a claim that never failed is
// named where its end is recorded.
func (e *event) make(s audit.State) audit.Record {
	r := audit.Record{Kind: e.kind, At: e.at, RetryCount: s.Retries, Policy: "tiss"}
	if e.kind.IsDecision() {
		r.Class, r.Rule, r.Code = retry.Transient, "transient.TIMEOUT", "TIMEOUT"
	}
	if e.sent != 0 {
		r.Variables = fmt.Sprintf(`{"retryDecision":{"secondsSinceLastSubmission":%d}}`, int64(e.sent/time.Second))
	}
	if e.kind == audit.KindRetry {
		r.NextRetryTime = e.at.Add(10 * time.Minute)
	}
	return r
}

// storeOf returns a store with stories, told in the order of time.
func storeOf(t *testing.T, stories ...[]event) audit.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(audittest.MemoryDir(t), "audit.db"), audittest.Key(audittest.Secret(t)))
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, s.Close()) })
	all := slices.Concat(stories...)
	slices.SortStableFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
	entries := make([]audit.Entry, len(all))
	for i := range all {
		entries[i] = audit.Entry{Key: audit.Key{JobKey: int64(i + 1)}, ClaimID: all[i].claim, Make: all[i].make}
	}
	for some := range slices.Chunk(entries, audit.MaxBatch) {
		_, err := s.Append(t.Context(), some)
		check.Must(t, err)
	}
	return s
}

// measure returns what was measured of the policy tiss from noon on up to a time.
func measure(t *testing.T, to time.Time, stories ...[]event) kpi.Result {
	t.Helper()
	tally, _, err := kpi.Measure(t.Context(), storeOf(t, stories...), noon, to)
	check.Must(t, err)
	for _, r := range tally.Results(targets) {
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
	again, stop, never        = audit.KindRetry, audit.KindExhausted, audit.KindPermanent
	accepted, byHand, givenUp = audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned
	rejected, onward          = audit.KindRejected, audit.KindRedriven
)

// The night of which 400 claims failed: 25 were accepted after retries, 22 were permanent, 53 wait, and of an
// insurer that was away for long 300 used up their retries. Next day a person has these sent again, and the
// insurer takes them.
func TestAnOutageIsNoSuccessAndARescuedClaimIsNotLost(t *testing.T) {
	night := [][]event{
		many(25, "accepted", noon, again, accepted), many(22, "permanent", noon, never), many(53, "waiting", noon, again),
		many(300, "outage", noon, again, again, again, again, again, stop),
	}
	at := noon.Add(8 * time.Minute)
	before := measure(t, at, night...)
	expect(t, before,
		row{"successAfterRetry", 25.0 / 325, 325, kpi.Missed}, row{"retriesUsedUp", 0.75, 400, kpi.Missed}, row{"claimsLost", 300.0 / 378, 378, kpi.Missed})
	check.Same(t, kpi.Outcomes{
		Total:              400,
		AcceptedAfterRetry: 25,
		Open:               map[audit.Standing]int64{audit.Waiting: 53, audit.Stopped: 322},
	}, before.Claims, "the claims at night")

	sentAgain := many(300, "outage", noon.Add(20*time.Hour), byHand)
	under := measure(t, noon.Add(20*time.Hour+time.Second), append(night, sentAgain)...)
	expect(t, under, row{"successAfterRetry", 1, 25, kpi.Met}, row{"claimsLost", 0, 378, kpi.Met})
	check.Same(t, int64(300), under.Claims.Open[audit.Redriven], "claims that were sent again")

	after := measure(t, noon.Add(21*time.Hour), append(night, sentAgain, many(300, "outage", noon.Add(20*time.Hour+time.Minute), accepted))...)
	expect(t, after,
		row{"successAfterRetry", 1, 325, kpi.Met}, row{"claimsLost", 0, 378, kpi.Met}, row{"retriesUsedUp", 0.75, 400, kpi.Missed},
		row{"meanAttemptsToSuccess", (25*2 + 300*7) / 325.0, 325, kpi.Missed}, row{"endedWithin24h", 1, 325, kpi.Met})
	check.Same(t, int64(300), after.Claims.AcceptedAfterPerson, "claims accepted after a person sent them again")
}

func TestWithoutDataNoKPIHasAVerdict(t *testing.T) {
	r := measure(t, noon.Add(time.Hour), many(1, "x", noon, rejected))
	for _, k := range r.KPIs {
		if k.Verdict != kpi.NoData || k.Value != nil {
			t.Errorf("%s: %s", k.Name, k.Verdict)
		}
	}
}

func TestSuccessCountsRetriedClaimsThatAreNotUnderWay(t *testing.T) {
	open := many(9, "open", noon, again)
	ends := [][]event{open, many(4, "ok", noon, again, accepted), many(1, "given-up", noon, again, givenUp), many(3, "at-once", noon, accepted), many(2, "never", noon, never)}
	expect(t, measure(t, noon.Add(5*time.Minute), ends...), row{"successAfterRetry", 0.8, 5, kpi.Met})
	ends = append(ends, many(1, "stopped", noon, again, never))
	expect(t, measure(t, noon.Add(5*time.Minute), ends...), row{"successAfterRetry", 4.0 / 6, 6, kpi.Missed})
}

func TestTheRateIsOfWhatEndedInTheTimeAndWhatIsOpen(t *testing.T) {
	s := storeOf(t, many(3, "before", noon.Add(-time.Hour), again, givenUp), many(4, "ok", noon, again, accepted), many(1, "at-once", noon, accepted))
	tally := kpi.Tally{From: noon, To: noon.Add(time.Hour)}
	check.Must(t, s.Totals(t.Context(), tally.From, tally.To, nil, tally.Add))
	for _, of := range []string{"tiss", "smtp"} {
		tally.AddOpen(&audit.State{Policy: of, Kind: stop, At: noon, Opened: noon, Flags: audit.CourseRetried})
	}
	tally.AddOpen(&audit.State{Policy: "fast", Kind: never, At: noon, Opened: noon}) // never retried
	check.Same(t, map[string]float64{"tiss": 0.8, "smtp": 0}, tally.Rates("successAfterRetry"), "rates")
}

func TestTimeToSuccessIsFromTheFirstFailureOfAnyRound(t *testing.T) {
	late := slices.Concat(story("CLM-a-1", noon, again, never, byHand), story("CLM-a-1", noon.Add(5*time.Hour), accepted))
	fast := story("CLM-b-1", noon, again, accepted)
	never := slices.Concat(many(3, "at-once", noon, accepted), many(3, "by-hand", noon, byHand, accepted))
	r := measure(t, noon.Add(6*time.Hour), late, fast, never)
	expect(t, r, row{"meanTimeToSuccess", (5*3600 + 60) / 2, 2, kpi.Missed}, row{"medianTimeToSuccess", 5 * 3600, 2, kpi.Missed})
}

func TestTimesAreFromTheFirstSubmissionWhereThatIsKnown(t *testing.T) {
	for sent, seconds := range map[time.Duration]float64{
		0: 60, 90 * time.Second: 150, -time.Second: 60, 24*time.Hour + time.Second: 60, // the last two are of a wrong clock
	} {
		claim := story("CLM-a-1", noon, again, accepted)
		claim[0].sent = sent
		expect(t, measure(t, noon.Add(2*time.Minute), claim), row{"meanTimeToSuccess", seconds, 1, kpi.Met})
	}
	open := story("CLM-a-1", noon, stop)
	open[0].sent = 24 * time.Hour
	expect(t, measure(t, noon.Add(2*time.Minute), open), row{"endedWithin24h", 0, 1, kpi.Missed})
}

// The claim failed and was sent again by a person in the month before.
func TestAnAcceptanceKnowsWhatWasBeforeTheTimeThatIsMeasured(t *testing.T) {
	before := story("CLM-a-1", noon.Add(-72*time.Hour), again, never, byHand)
	r := measure(t, noon.Add(time.Hour), before, story("CLM-a-1", noon, accepted))
	check.Same(t, int64(1), r.Claims.AcceptedAfterPerson, "claims accepted after a person sent them again")
	expect(t, r, row{"meanTimeToSuccess", 72 * 3600, 1, kpi.Missed}, row{"endedWithin48h", 0, 1, kpi.Missed},
		row{"meanAttemptsToSuccess", 3, 1, kpi.Missed})
}

// What came later changes nothing: both failed at noon, and two hours later one was accepted and one stopped.
func TestATimeThatHasPassedIsMeasuredAlikeForEver(t *testing.T) {
	s := storeOf(t,
		story("CLM-ended-1", noon, again), story("CLM-ended-1", noon.Add(2*time.Hour), accepted),
		story("CLM-open-1", noon, again), story("CLM-open-1", noon.Add(2*time.Hour), stop),
		story("CLM-later-1", noon.Add(26*time.Hour), again),
	)
	for from, want := range map[time.Time]struct {
		claims  kpi.Outcomes
		open    string
		decided int64 // in this time
	}{
		noon: {
			kpi.Outcomes{Total: 2, Open: map[audit.Standing]int64{audit.Overdue: 2}}, "CLM-ended-1 CLM-open-1", 2,
		},
		noon.Add(2 * time.Hour): {
			kpi.Outcomes{Total: 2, AcceptedAfterRetry: 1, Open: map[audit.Standing]int64{audit.Stopped: 1}}, "CLM-open-1", 2,
		},
		noon.Add(4 * time.Hour): {
			kpi.Outcomes{Total: 1, Open: map[audit.Standing]int64{audit.Stopped: 1}}, "CLM-open-1", 0,
		},
	} {
		tally, open, err := kpi.Measure(t.Context(), s, from, from.Add(time.Hour))
		check.Must(t, err)
		var ids []string
		for i := range open {
			ids = append(ids, open[i].ClaimID)
		}
		got := tally.Results(targets)[0]
		check.Same(t, want.claims, got.Claims, "claims of the hour from %s", from.Format(time.TimeOnly))
		check.Same(t, want.open, strings.Join(ids, " "), "open claims at its end")
		check.Same(t, want.decided, got.KPIs[5].MeasuredOn, "claims of which %s was measured", got.KPIs[5].Name)
	}
}

func TestMeanAndMedianAreThoseOfAllTimes(t *testing.T) {
	for _, c := range []struct {
		minutes      []int
		mean, median float64
	}{
		{[]int{1, 2, 9}, 4, 2}, {[]int{1, 2, 6, 11}, 5, 6}, {[]int{1, 1, 1, 8, 9}, 4, 1}, {[]int{1, 1, 8, 10}, 5, 8},
	} {
		var all [][]event
		for i, m := range c.minutes {
			claim := fmt.Sprintf("CLM-a-%d", i)
			all = append(all, story(claim, noon, again), story(claim, noon.Add(time.Duration(m)*time.Minute), accepted))
		}
		n := int64(len(c.minutes))
		expect(t, measure(t, noon.Add(time.Hour), all...),
			row{"meanTimeToSuccess", 60 * c.mean, n, kpi.Met}, row{"medianTimeToSuccess", 60 * c.median, n, kpi.Met})
	}
}

// Of tiss 20 claims took 50 attempts and 10 took one each; 500 of others were accepted at once.
func TestTheMeanOfAttemptsIsOfThePolicyAlone(t *testing.T) {
	const retried = audit.CourseFailed | audit.CourseDecided | audit.CourseRetried
	late := &audit.Total{Kind: accepted, Policy: "tiss", Flags: retried, Records: 20, Attempts: 50}
	prompt := &audit.Total{Kind: accepted, Policy: "tiss", Records: 10, Attempts: 10}
	for _, c := range []struct {
		other  string
		totals []*audit.Total
		want   float64 // 0 for no data
	}{
		{"smtp", []*audit.Total{late, prompt}, 2},
		{"", []*audit.Total{late, prompt}, 2},
		{"smtp", []*audit.Total{late}, 2.5},
		{"", []*audit.Total{late}, 0}, // those of tiss that were accepted at once are among the others
	} {
		var tally kpi.Tally
		for _, n := range append(c.totals, &audit.Total{Kind: accepted, Policy: c.other, Records: 500, Attempts: 500}) {
			check.Must(t, tally.Add(n))
		}
		results := tally.Results(targets)
		of := results[slices.IndexFunc(results, func(r kpi.Result) bool { return r.Policy == "tiss" })].KPIs[7]
		got := 0.0
		if of.Value != nil {
			got = *of.Value
		}
		check.Same(t, c.want, got, "%s beside 500 claims of %q, with verdict %s", of.Name, c.other, of.Verdict)
	}
}

func TestClaimsThatNeverFailedCountAsOneAttempt(t *testing.T) {
	r := measure(t, noon.Add(time.Hour), many(1, "retried", noon, again, accepted), many(4, "at-once", noon, accepted), many(1, "given-up", noon, again, givenUp))
	expect(t, r, row{"meanAttemptsToSuccess", 1.2, 5, kpi.Met})
}

func TestPermanentErrorsAreAShareOfAllErrors(t *testing.T) {
	one, nine := many(1, "p", noon, never), many(9, "r", noon, again)
	expect(t, measure(t, noon.Add(time.Hour), one, nine, many(5, "x", noon, rejected)), row{"permanentErrors", 0.1, 10, kpi.Missed}) // the target is below a tenth
	expect(t, measure(t, noon.Add(time.Hour), one, many(10, "r", noon, again)), row{"permanentErrors", 1.0 / 11, 11, kpi.Met})
}

func TestUsedUpRetriesAreAShareOfClaims(t *testing.T) {
	one := story("CLM-a-1", noon, again, again, again, again, again, stop)
	expect(t, measure(t, noon.Add(time.Hour), one, many(18, "r", noon, again), many(1, "p", noon, never)),
		row{"retriesUsedUp", 0.05, 20, kpi.Missed}, // the target is below a twentieth
		row{"claimsLost", 1.0 / 19, 19, kpi.Missed})
	expect(t, measure(t, noon.Add(time.Hour), one[5:], many(40, "r", noon, again)), row{"retriesUsedUp", 1.0 / 41, 41, kpi.Met})
	expect(t, measure(t, noon.Add(time.Hour), many(1, "sent-again", noon, stop, onward, again)), row{"retriesUsedUp", 1, 1, kpi.Missed})
}

func TestClaimsThatAreOpenForLongMissTheDay(t *testing.T) {
	fast, slow := many(3, "fast", noon, again, accepted), many(1, "slow", noon, never)
	expect(t, measure(t, noon.Add(time.Hour), fast, slow), row{"endedWithin24h", 1, 3, kpi.Met})
	expect(t, measure(t, noon.Add(25*time.Hour), fast, slow), row{"endedWithin24h", 0.75, 4, kpi.Missed}, row{"endedWithin48h", 1, 3, kpi.Met})
	expect(t, measure(t, noon.Add(49*time.Hour), fast, slow), row{"endedWithin48h", 0.75, 4, kpi.Missed})
}

func TestAClaimThatFailsAfterItsEndCountsAsTwo(t *testing.T) {
	since := noon.Add(71 * time.Hour)
	r := measure(t, noon.Add(72*time.Hour), story("CLM-a-1", noon, again, accepted), story("CLM-a-1", since, again))
	check.Same(t, kpi.Outcomes{
		Total:              2,
		AcceptedAfterRetry: 1,
		Open:               map[audit.Standing]int64{audit.Overdue: 1},
	}, r.Claims, "the claim")
}

func TestCausesAreCountedByRuleAndCode(t *testing.T) {
	r := measure(t, noon.Add(time.Hour), many(2, "a", noon, again, again), many(1, "b", noon, onward))
	want := kpi.Cause{Class: string(retry.Transient), RuleID: "transient.TIMEOUT", MatchedCode: "TIMEOUT", Failures: 4}
	check.Same(t, []kpi.Cause{want}, r.Causes, "causes")
}
