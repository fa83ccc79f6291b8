package retry_test

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/testing/check"
)

// A changed policy has another version, which distinguishes its decisions from those before.
func TestTheVersionChangesWithEverythingThatCanChangeADecision(t *testing.T) {
	versions := map[string]string{plain(t).Version(): "the policy itself"}
	for name, change := range map[string]func(*retry.Settings){
		"name":            func(p *retry.Settings) { p.Name = "other" },
		"base":            func(p *retry.Settings) { p.Base = retry.Duration(minutes(6)) },
		"factor":          func(p *retry.Settings) { p.Factor = 3 },
		"min":             func(p *retry.Settings) { p.Min = retry.Duration(minutes(4)) },
		"max":             func(p *retry.Settings) { p.Max = retry.Duration(minutes(241)) },
		"jitter":          func(p *retry.Settings) { p.Jitter = 0.1 },
		"precision":       func(p *retry.Settings) { p.Precision = "second" },
		"retries":         func(p *retry.Settings) { p.MaxRetries = 6 },
		"deadline":        func(p *retry.Settings) { p.Deadline = retry.Duration(time.Hour) },
		"zone":            func(p *retry.Settings) { p.TimeZone = "America/Sao_Paulo" },
		"ids":             func(p *retry.Settings) { p.IDs = retry.AnyIDs },
		"unknown":         func(p *retry.Settings) { p.Unknown = retry.Permanent },
		"empty error":     func(p *retry.Settings) { p.OnEmptyError = retry.UnknownEmptyError },
		"job overrides":   func(p *retry.Settings) { p.JobOverrides = true },
		"a rule less":     func(p *retry.Settings) { p.Rules = p.Rules[:1] },
		"a rule's class":  func(p *retry.Settings) { p.Rules[0].Class = retry.Transient },
		"a rule's id":     func(p *retry.Settings) { p.Rules[0].ID = "other" },
		"contains":        func(p *retry.Settings) { p.Rules[0].Contains = []string{"OTHER"} },
		"http":            func(p *retry.Settings) { p.Rules[0].HTTP = []string{"500"} },
		"unless":          func(p *retry.Settings) { p.Rules[0].Unless = &errtext.Condition{Contains: []string{"X"}} },
		"order":           func(p *retry.Settings) { p.Rules[0], p.Rules[1] = p.Rules[1], p.Rules[0] },
		"may have landed": func(p *retry.Settings) { p.InDoubt = nil },
	} {
		v := plain(t, change).Version()
		if other, taken := versions[v]; taken {
			t.Errorf("%s: the version %s is also that of %s", name, v, other)
		}
		versions[v] = name
	}
	described := func(p *retry.Settings) {
		p.Description, p.Source, p.Extends, p.Rules[0].Source = "for people", "a document", "tiss", "elsewhere"
	}
	check.Same(t, plain(t).Version(), plain(t, described).Version(), "version with descriptions, which decide nothing")
	target := func(p *retry.Settings) { p.Targets = []retry.Target{{KPI: "claimsLost", Target: "< 10%"}} }
	check.Same(t, plain(t).Version(), plain(t, target).Version(), "version with a target, which decides nothing")
}

func TestMinutesAreRoundedUp(t *testing.T) {
	for wait, want := range map[time.Duration]int{
		0: 0, time.Millisecond: 1, time.Second: 1, time.Minute: 1, time.Minute + time.Millisecond: 2, minutes(240): 240,
	} {
		if got := (&retry.Decision{Backoff: wait}).BackoffMinutes(); got != want {
			t.Errorf("%v is %d minutes, want %d", wait, got, want)
		}
	}
}
