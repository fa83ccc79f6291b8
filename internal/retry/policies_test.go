package retry_test

import (
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/testing/check"
)

// plain is a policy with waits that are easy to remember: 5, 10, 20, 40 and 80 minutes without jitter, 240 at
// most, and at least 5. FATAL is a permanent error, BUSY a transient one, and after SENT the claim may have
// landed.
func plain(t check.TB, changes ...func(*retry.Settings)) *retry.Policy {
	t.Helper()
	p := retry.Settings{
		Name: "plain", Base: retry.Duration(minutes(5)), Factor: 2, Min: retry.Duration(minutes(5)), Max: retry.Duration(minutes(240)),
		Precision: "minute", MaxRetries: 5,
		Zone: time.UTC, IDs: retry.ClaimIDs, Unknown: retry.Unknown, OnEmptyError: retry.RejectEmptyError,
		Rules: []retry.Rule{
			{ID: "permanent.FATAL", Class: retry.Permanent, Condition: errtext.Condition{Contains: []string{"FATAL"}}},
			{ID: "transient.BUSY", Class: retry.Transient, Condition: errtext.Condition{Contains: []string{"BUSY"}}},
		},
		InDoubt: []retry.Rule{{ID: "landed.SENT", Condition: errtext.Condition{Contains: []string{"SENT"}}}},
	}
	for _, change := range changes {
		change(&p)
	}
	made, err := new(retry.Policy).Extend(p)
	check.Must(t, err)
	return made
}

// bySecond makes a policy count in seconds, from 1 second on.
func bySecond(p *retry.Settings) {
	p.Precision, p.Max = "second", retry.Duration(time.Hour)
	p.Base, p.Min = retry.Duration(time.Second), retry.Duration(time.Second)
}

// byMillisecond makes a policy count in milliseconds, from half a second on.
func byMillisecond(p *retry.Settings) {
	p.Precision, p.Max = "millisecond", retry.Duration(time.Hour)
	p.Base, p.Min = retry.Duration(500*time.Millisecond), retry.Duration(time.Millisecond)
}

var units = map[string]time.Duration{"minute": time.Minute, "second": time.Second, "millisecond": time.Millisecond}

// unit is what the waits of a policy are whole multiples of.
func unit(p *retry.Policy) time.Duration { return units[p.Precision] }
