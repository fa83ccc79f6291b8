package simulate_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
	"hospital.example/analyze-retry/internal/testing/check"
)

// scenario is an outage of three hours at whose start a hundred claims fail together.
func scenario(change func(*simulate.Scenario)) simulate.Scenario {
	s := simulate.Scenario{Outages: []simulate.Outage{{End: 3 * time.Hour}}, Claims: 100, Error: "TIMEOUT", Seed: 1}
	if change != nil {
		change(&s)
	}
	return s
}

func run(t *testing.T, p *retry.Policy, s simulate.Scenario) *simulate.Result {
	t.Helper()
	r, err := simulate.Run(p, s, nil)
	check.Must(t, err)
	if sum := r.AtOnce + r.Survivors + r.Exhausted + r.Deadline + r.Permanent; sum != s.Claims {
		t.Errorf("%d of %d claims have an end: %+v", sum, s.Claims, r)
	}
	retries := 0
	for _, w := range r.Waves {
		retries += w.Retries
	}
	if retries != r.Tries-s.Claims {
		t.Errorf("the waves have %d retries, but there were %d", retries, r.Tries-s.Claims)
	}
	return r
}

// changed is tiss with something else in it.
func changed(t *testing.T, change func(*retry.Settings)) *retry.Policy {
	t.Helper()
	p := policy.BuiltIn("tiss").Settings
	change(&p)
	made, err := retry.New(p)
	check.Must(t, err)
	return made
}

func withoutJitter(tb testing.TB, p *retry.Policy) *retry.Policy {
	tb.Helper()
	plain, err := simulate.WithoutJitter(p)
	check.Must(tb, err)
	return plain
}

// Without jitter tiss tries after 0, 5, 15, 35, 75 and 155 minutes.
func TestAnOutageIsPlayedAsByHand(t *testing.T) {
	plain := withoutJitter(t, policy.BuiltIn("tiss"))
	for _, test := range []struct {
		name    string
		outages []simulate.Outage
		want    simulate.Result
	}{
		{"over before the fifth retry", []simulate.Outage{{End: 80 * time.Minute}}, simulate.Result{
			Survivors: 100, Tries: 600, Wasted: 400, P50: 155 * time.Minute, P95: 155 * time.Minute, Max: 155 * time.Minute, LastAccepted: 155 * time.Minute,
		}},
		{"its end is no part of it", []simulate.Outage{{End: 15 * time.Minute}}, simulate.Result{
			Survivors: 100, Tries: 300, Wasted: 100, P50: 15 * time.Minute, P95: 15 * time.Minute, Max: 15 * time.Minute, LastAccepted: 15 * time.Minute,
		}},
		{"longer than all retries", []simulate.Outage{{End: 3 * time.Hour}}, simulate.Result{Exhausted: 100, Tries: 600, Wasted: 500}},
		{"two, of which the second matters no more", []simulate.Outage{{Begin: 6 * time.Minute, End: time.Hour}, {End: 5 * time.Minute}}, simulate.Result{
			Survivors: 100, Tries: 200, P50: 5 * time.Minute, P95: 5 * time.Minute, Max: 5 * time.Minute, LastAccepted: 5 * time.Minute,
		}},
		{"not begun yet", []simulate.Outage{{Begin: time.Minute, End: time.Hour}}, simulate.Result{AtOnce: 100, Tries: 100}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := run(t, plain, scenario(func(s *simulate.Scenario) { s.Outages = test.outages }))
			got.Class, got.Waves, got.Largest = retry.Classification{}, nil, simulate.Wave{}
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOnlyJitterSpreadsClaimsThatFailTogether(t *testing.T) {
	tiss := policy.BuiltIn("tiss")
	together := scenario(func(s *simulate.Scenario) { s.Claims = 2000 })
	if got := run(t, withoutJitter(t, tiss), together).Largest; got != (simulate.Wave{At: 5 * time.Minute, Retries: 2000}) {
		t.Errorf("without jitter: %+v", got)
	}
	// The first retry has the band of 5 to 6 minutes, so that half of them come in one minute.
	if got := run(t, tiss, together).Largest; got.Retries < 900 || got.Retries > 1100 {
		t.Errorf("with jitter: %+v", got)
	}
}

func TestADeadlineAndAPermanentErrorStopClaims(t *testing.T) {
	short := changed(t, func(p *retry.Settings) { p.Deadline = time.Hour })
	if got := run(t, short, scenario(nil)); got.Deadline != 100 || got.Exhausted != 0 {
		t.Errorf("after the deadline: %+v", got)
	}
	got := run(t, short, scenario(func(s *simulate.Scenario) { s.Error = "DUPLICATE_CLAIM" }))
	if got.Permanent != 100 || got.Tries != 100 || got.Class.RuleID != "permanent.DUPLICATE_CLAIM" {
		t.Errorf("a permanent error: %+v", got)
	}
}

func TestTriesFailOutsideOfAnOutageAsOftenAsAsked(t *testing.T) {
	got := run(t, policy.BuiltIn("tiss"), scenario(func(s *simulate.Scenario) {
		s.Claims, s.FailureRate, s.Arrivals = 5000, 0.2, time.Hour
		s.Outages = []simulate.Outage{{Begin: 1000 * time.Hour, End: 1001 * time.Hour}}
	}))
	// Each try fails with 1 in 5: 1.25 tries a claim, and one in 5^6 = 15,625 fails six times.
	if rate := float64(got.AtOnce) / 5000; math.Abs(rate-0.8) > 0.02 {
		t.Errorf("%.3f of the claims were accepted at once, want about 0.8", rate)
	}
	if tries := float64(got.Tries) / 5000; math.Abs(tries-1.25) > 0.03 || got.Exhausted > 3 || got.Wasted != 0 {
		t.Errorf("%.3f tries a claim, want about 1.25: %+v", tries, got)
	}
}

func TestTheSameSeedIsTheSameSimulation(t *testing.T) {
	tiss := policy.BuiltIn("tiss")
	with := func(seed uint64) *simulate.Result {
		return run(t, tiss, scenario(func(s *simulate.Scenario) { s.Seed, s.Claims, s.Arrivals, s.FailureRate = seed, 500, time.Hour, 0.1 }))
	}
	if diff := cmp.Diff(with(7), with(7)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(with(7).Waves, with(8).Waves) {
		t.Error("another seed gives the same waves")
	}
}

func TestEveryPolicyGetsTheSameClaims(t *testing.T) {
	never := changed(t, func(p *retry.Settings) { p.MaxRetries = 0 })
	s := scenario(func(s *simulate.Scenario) { s.Claims, s.Arrivals, s.FailureRate = 1000, 6*time.Hour, 0.1 })
	if a, b := run(t, never, s), run(t, policy.BuiltIn("tiss"), s); a.AtOnce != b.AtOnce {
		t.Errorf("%d claims are accepted at once under one policy, %d under the other", a.AtOnce, b.AtOnce)
	}
}

func TestClaimsThatAreAlikeArePlayedOnceAndCountedEach(t *testing.T) {
	plain := withoutJitter(t, policy.BuiltIn("tiss"))
	s := scenario(func(s *simulate.Scenario) { s.Claims, s.Arrivals = 2000, 3*time.Hour })
	alike := run(t, plain, s)
	s.FailureRate = math.SmallestNonzeroFloat64 // never, but a policy without chance plays alike claims once
	if diff := cmp.Diff(run(t, plain, s), alike); diff != "" {
		t.Errorf("(-each +alike)\n%s", diff)
	}
}

// A simulation asks a policy without most of its rules. It has to decide as the whole policy does.
func TestTheShortcutDecidesAsThePolicyDoes(t *testing.T) {
	texts := []string{
		"TIMEOUT", "504", "duplicate_claim after TIMEOUT", "weird", "HTTP 429, Retry-After: 600", "3091 PERIODO DE 01/02/1970 ATÉ 10/02/1970", "bad gateway 502", " ",
	}
	builtIns := policy.BuiltIns()
	rapid.Check(t, func(t *rapid.T) {
		p, _ := builtIns.Get(rapid.SampledFrom(builtIns.Names()).Draw(t, "policy"))
		p = drawn(t, p.Settings)
		text := rapid.SampledFrom(texts).Draw(t, "text")
		lean, err := simulate.ForText(p, text)
		check.Must(t, err)
		now := time.Unix(rapid.Int64Range(0, 1e7).Draw(t, "now"), 0).UTC()
		request := retry.Request{
			ClaimID: "CLM-SIM-1", SubmissionError: text, RetryCount: rapid.IntRange(0, 8).Draw(t, "retryCount"),
			ProcessInstanceKey: rapid.Int64Range(1, 1e6).Draw(t, "instance"),
		}
		if request.RetryCount > 0 {
			request.FirstFailure = now.Add(-time.Duration(rapid.Int64Range(0, 1e5).Draw(t, "since")) * time.Second)
		}
		want, wantErr := p.Decide(request, now)
		got, gotErr := lean.Decide(request, now)
		// What a simulation has no use for.
		want.PolicyVersion, got.PolicyVersion, want.Advice = "", "", ""
		if diff := cmp.Diff(want, got); diff != "" || (wantErr == nil) != (gotErr == nil) {
			t.Errorf("%s: errors %v, %v, (-policy +shortcut)\n%s", text, wantErr, gotErr, diff)
		}
	})
}

// drawn changes what of a policy bears on its waits.
func drawn(t *rapid.T, p retry.Settings) *retry.Policy {
	p.Jitter = rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "jitter")
	p.Deadline = rapid.SampledFrom([]time.Duration{0, time.Hour, 24 * time.Hour}).Draw(t, "deadline")
	p.MaxRetries = rapid.IntRange(0, 8).Draw(t, "maxRetries")
	p.Unknown = rapid.SampledFrom([]retry.Class{retry.Unknown, retry.Transient, retry.Permanent}).Draw(t, "unknown")
	p.AcceptEmptyError = rapid.Bool().Draw(t, "acceptEmptyError")
	made, err := retry.New(p)
	check.Must(t, err)
	return made
}

// The time that a simulation takes is its tries times the cost of one decision. A policy's rules have no part in it.
func TestTheRulesOfAPolicyCostOnce(t *testing.T) {
	many := changed(t, func(p *retry.Settings) {
		for n := range 200 {
			p.Rules = append(p.Rules, retry.Rule{ID: fmt.Sprint("slow", n), Class: retry.Permanent, Condition: evidence.Condition{Contains: []string{"SLOW"}}})
		}
	})
	lean, err := simulate.ForText(many, "TIMEOUT")
	if err != nil || len(lean.Rules) != 1 {
		t.Errorf("%d rules read the text at every try, want 1; error %v", len(lean.Rules), err)
	}
	allocations := testing.AllocsPerRun(3, func() { _, _ = simulate.Run(many, scenario(func(s *simulate.Scenario) { s.Claims = 1000 }), nil) })
	once := testing.AllocsPerRun(3, func() { _, _ = simulate.Run(many, scenario(func(s *simulate.Scenario) { s.Claims = 1 }), nil) })
	if perClaim := (allocations - once) / 999; perClaim > 12 { // with the race detector, which empties pools; without it 8
		t.Errorf("%.1f allocations a claim, want at most 12", perClaim)
	}
}

func TestAllFaultsOfAScenarioAreReported(t *testing.T) {
	_, err := simulate.Run(policy.BuiltIn("tiss"), simulate.Scenario{
		Outages: []simulate.Outage{{Begin: time.Hour, End: time.Hour}}, Arrivals: -1, FailureRate: math.NaN(), Error: " ",
	}, nil)
	for _, part := range []string{"an outage is from 1h to 1h", "claims are 0", "arrivals are over -1ns", "the failure rate is NaN", "the error text is empty"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not said: %v", part, err)
		}
	}
}

func TestSimulationStopsAtAnErrorOfItsProgress(t *testing.T) {
	enough := errors.New("enough")
	calls := 0
	_, err := simulate.Run(policy.BuiltIn("tiss"), scenario(func(s *simulate.Scenario) { s.Claims = 10_000 }), func(done int) error {
		calls++
		if done != 1000 {
			t.Errorf("%d are done", done)
		}
		return enough
	})
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%d calls, error %v", calls, err)
	}
}

func TestQuantileIsATimeThatSoManyDoNotExceed(t *testing.T) {
	ten := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, test := range []struct{ of, percent, want int }{{10, 50, 5}, {10, 95, 10}, {10, 100, 10}, {3, 50, 2}, {1, 50, 1}, {0, 50, 0}} {
		if got := simulate.Quantile(ten[:test.of], test.percent); got != time.Duration(test.want)*time.Second {
			t.Errorf("%d %% of %d: %v, want %d s", test.percent, test.of, got, test.want)
		}
	}
}

func TestTheLastSurvivorIsNoneOfThoseAcceptedAtOnce(t *testing.T) {
	got := run(t, withoutJitter(t, policy.BuiltIn("tiss")), scenario(func(s *simulate.Scenario) {
		s.Outages, s.Claims, s.Arrivals = []simulate.Outage{{End: 5 * time.Minute}}, 2000, 24*time.Hour
	}))
	if got.AtOnce == 0 || got.Survivors == 0 || got.LastAccepted > 10*time.Minute {
		t.Errorf("%+v", got.LastAccepted)
	}
}

// 100,000 claims under tiss with and without jitter, as worker simulate asks for them, must stay below a second.
func BenchmarkAHundredThousandClaims(b *testing.B) {
	tiss := policy.BuiltIn("tiss")
	plain := withoutJitter(b, tiss)
	for b.Loop() {
		for _, p := range []*retry.Policy{tiss, plain} {
			s := simulate.Scenario{Outages: []simulate.Outage{{End: 3 * time.Hour}}, Claims: 100_000, Arrivals: 3 * time.Hour, Error: "TIMEOUT", Seed: 1}
			if _, err := simulate.Run(p, s, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}
