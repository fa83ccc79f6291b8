package simulate

import (
	"slices"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

func played(t *testing.T, p *retry.Policy, claims int, outage time.Duration) Result {
	t.Helper()
	r := Run(p, Scenario{Outage: outage, Claims: claims, Error: "TIMEOUT"})
	check.Same(t, claims, r.Accepted+r.GivenUp, "claims with an end")
	return *r
}

// Policy fast has no jitter and tries after 0, 1, 6 and 31 seconds. In an outage of a second all claims fail together; one of
// ten days is over for none of a hundred in time.
func TestAnOutageIsPlayedAsByHand(t *testing.T) {
	for outage, want := range map[time.Duration]Result{
		time.Second:     {Accepted: 100, InAMinute: 100, Median: 1, P95: 1},
		240 * time.Hour: {GivenUp: 100, InVain: 300, InAMinute: 6},
	} {
		t.Run(outage.String(), func(t *testing.T) {
			got := played(t, policy.BuiltIn("fast"), 100, outage)
			got.Policy, got.Version, got.Class, got.RuleID = "", "", "", ""
			check.Same(t, want, got, "result")
		})
	}
}

func TestADeadlineAndAPermanentErrorStopClaims(t *testing.T) {
	settings := policy.BuiltIn("tiss").Settings
	settings.Deadline = retry.Duration(time.Hour)
	short, err := new(retry.Policy).Extend(settings)
	check.Must(t, err)
	check.Same(t, 100, played(t, short, 100, 1000*time.Hour).GivenUp, "stopped by the deadline")
	permanent := Run(short, Scenario{Outage: time.Hour, Claims: 100, Error: "DUPLICATE_CLAIM"})
	check.Same(t, [2]int{100, 0}, [2]int{permanent.GivenUp, permanent.InVain}, "stopped as permanent, and retries")
}

func TestExampleForLongOutagesLosesNoClaimInTwelveHours(t *testing.T) {
	const file = "../../../examples/policy-long-outage.yaml"
	set, err := policy.Open(file, retry.Settings{})
	check.Must(t, err)
	check.Same(t, 0, len(set.Lint(12*time.Hour)), "findings of lint")
	patient, _ := set.Get("long-outage")
	for p, lost := range map[*retry.Policy]bool{patient: false, policy.BuiltIn("tiss"): true} {
		got := played(t, p, 2000, 12*time.Hour)
		check.Same(t, lost, got.GivenUp > 0, "%s loses claims", p.Name)
	}
}

func TestQuantileIsATimeThatSoManyDoNotExceed(t *testing.T) {
	ten := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, test := range []struct{ of, percent, want int }{{10, 50, 5}, {10, 95, 10}, {3, 50, 2}, {0, 50, 0}} {
		got := quantile(ten[:test.of], test.percent)
		check.Same(t, int64(test.want), got, "%d %% of %d", test.percent, test.of)
	}
}

func TestLargestWaveIsThatOfAMinute(t *testing.T) {
	var retries []int64
	for second, n := range map[int64]int{0: 5, 59: 5, 60: 10, 119: 3, 200: 12} {
		retries = append(retries, slices.Repeat([]int64{second}, n)...)
	}
	got := largest(retries)
	check.Same(t, 15, got, "retries of the largest")
}
