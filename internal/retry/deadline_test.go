package retry_test

import (
	"fmt"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestLastTryIsPulledForwardIfMinRemains(t *testing.T) {
	for _, tt := range []struct {
		left    time.Duration // from 10:40 to the deadline
		hint    time.Duration
		backoff time.Duration // 0: stopped
		bounds  []string
		step    retry.Step
	}{
		{left: minutes(11), backoff: minutes(10), step: retry.StepBackoff},
		{left: minutes(10), backoff: minutes(10), step: retry.StepBackoff}, // the wait ends at the deadline itself
		{left: minutes(10) - time.Second, backoff: minutes(9), bounds: []string{"DEADLINE"}, step: retry.StepBackoff},
		{left: minutes(5), backoff: minutes(5), bounds: []string{"DEADLINE"}, step: retry.StepBackoff},
		{left: minutes(5) - time.Second, step: retry.StepDeadline},
		{left: 0, step: retry.StepDeadline},
		{left: -time.Hour, step: retry.StepDeadline},
		{left: -1 << 62, step: retry.StepDeadline},
		// A hint is pulled forward too, with its bound: the other side may refuse, but later is too late in any case.
		{left: minutes(50), hint: minutes(60), backoff: minutes(50), bounds: []string{"DEADLINE"}, step: retry.StepHint},
		{left: minutes(60), hint: minutes(60), backoff: minutes(60), step: retry.StepHint},
		{left: minutes(50), hint: 10 * time.Hour, backoff: minutes(50), bounds: []string{"MAX", "DEADLINE"}, step: retry.StepHint},
		{left: minutes(4), hint: minutes(60), step: retry.StepDeadline},
	} {
		t.Run(fmt.Sprintf("%v left, hint %v", tt.left, tt.hint), func(t *testing.T) {
			r := request("BUSY", 1)
			r.RetryUntil = now.Add(tt.left)
			if tt.hint != 0 {
				r.RetryAfter = retry.Hint{Source: retry.HintVariable, After: tt.hint}
			}
			d := answer(t, plain(t), r)
			if d.Backoff != tt.backoff || d.Step != tt.step || fmt.Sprint(d.Bounds.Names()) != fmt.Sprint(tt.bounds) {
				t.Errorf("waits %v by %s, bounds %v; want %v by %s, %v", d.Backoff, d.Step, d.Bounds.Names(), tt.backoff, tt.step, tt.bounds)
			}
			if stopped := tt.backoff == 0; stopped != (d.Outcome == retry.OutcomeExhausted) {
				t.Errorf("outcome %v", d.Outcome)
			}
		})
	}
}

func TestEarlierDeadlineOfJobAndPolicyHolds(t *testing.T) {
	day := plain(t, func(p *retry.Settings) { p.Deadline = 24 * time.Hour })
	first := now.Add(-20 * time.Hour)
	for name, tt := range map[string]struct {
		policy             *retry.Policy
		first, until, want time.Time
	}{
		"none":                           {policy: plain(t)},
		"the job's":                      {policy: plain(t), until: now.Add(time.Hour), want: now.Add(time.Hour)},
		"the policy's, from now on":      {policy: day, want: now.Add(24 * time.Hour)},
		"the policy's, from the first":   {policy: day, first: first, want: first.Add(24 * time.Hour)},
		"the job's is earlier":           {policy: day, first: first, until: now.Add(time.Hour), want: now.Add(time.Hour)},
		"the policy's is earlier":        {policy: day, first: first, until: now.Add(9 * time.Hour), want: now.Add(4 * time.Hour)},
		"a first failure decides no job": {policy: plain(t), first: first},
		"to the second, never later":     {policy: plain(t), until: now.Add(time.Hour + 900*time.Millisecond), want: now.Add(time.Hour)},
		"far away": {
			policy: plain(t), until: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), want: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		},
	} {
		r := request("BUSY", 0)
		r.FirstFailure, r.RetryUntil = tt.first, tt.until
		if d := answer(t, tt.policy, r); !d.Deadline.Equal(tt.want) || d.Deadline.Location() != time.UTC && !tt.want.IsZero() {
			t.Errorf("%s: deadline %v, want %v", name, d.Deadline, tt.want)
		}
	}
}

// Clocks have fractions of a second, times in the contract have none. Rounding must go neither past the deadline nor back
// to now.
func TestFractionOfASecondMovesNoTryPastTheDeadline(t *testing.T) {
	at := now.Add(600 * time.Millisecond)
	for _, tt := range []struct {
		name   string
		policy *retry.Policy
		left   time.Duration // from the whole second of now to the deadline
		next   time.Duration // likewise; 0: stopped
	}{
		{"10 s fit into 10.4 s", plain(t, bySecond, func(p *retry.Settings) { p.Base = 10 * time.Second }), 11 * time.Second, 11 * time.Second},
		{"10 s do not fit into 9.4 s", plain(t, bySecond, func(p *retry.Settings) { p.Base = 10 * time.Second }), 10 * time.Second, 10 * time.Second},
		{"min of 1 s does not fit into 0.4 s", plain(t, bySecond), time.Second, 0},
		{"half a second fits into 1.4 s", plain(t, byMillisecond), 2 * time.Second, 2 * time.Second},
		{"half a second becomes 0.4 s", plain(t, byMillisecond), time.Second, time.Second},
		{"whole minutes are counted from the whole second", plain(t), minutes(5), minutes(5)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := request("BUSY", 0)
			r.RetryUntil = now.Add(tt.left)
			d, err := tt.policy.Decide(r, at)
			check.Must(t, err)
			if tt.next == 0 {
				if d.Step != retry.StepDeadline {
					t.Errorf("next try at %v, want a stop", d.NextRetryTime)
				}
				return
			}
			if !d.NextRetryTime.Equal(now.Add(tt.next)) || !d.NextRetryTime.After(at) {
				t.Errorf("next try at %v, want %v", d.NextRetryTime, now.Add(tt.next))
			}
		})
	}
}
