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
		{left: minutes(10), backoff: minutes(10), step: retry.StepBackoff}, // the wait ends at the deadline itself
		{left: minutes(10) - time.Second, backoff: minutes(9), bounds: []string{"DEADLINE"}, step: retry.StepBackoff},
		{left: minutes(5), backoff: minutes(5), bounds: []string{"DEADLINE"}, step: retry.StepBackoff},
		{left: minutes(5) - time.Second, step: retry.StepDeadline},
		{left: -1 << 62, step: retry.StepDeadline},
		// A hint is pulled forward too, with its bound: the other side may refuse, but later is too late in
		// any case.
		{left: minutes(50), hint: minutes(60), backoff: minutes(50), bounds: []string{"DEADLINE"}, step: retry.StepHint},
		{left: minutes(50), hint: 10 * time.Hour, backoff: minutes(50), bounds: []string{"MAX", "DEADLINE"}, step: retry.StepHint},
		{left: minutes(4), hint: minutes(60), step: retry.StepDeadline},
	} {
		t.Run(fmt.Sprintf("%v left, hint %v", tt.left, tt.hint), func(t *testing.T) {
			r := request("BUSY", 1)
			r.RetryUntil = now.Add(tt.left)
			if tt.hint != 0 {
				r.RetryAfter = retry.Hint{Source: retry.HintVariable, After: retry.ISODuration(tt.hint)}
			}
			d := plain(t).Decide(r, now)
			if d.Backoff != tt.backoff || d.Step != tt.step || fmt.Sprint(d.Bounds) != fmt.Sprint(tt.bounds) {
				t.Errorf("waits %v by %s, bounds %v; want %v by %s, %v", d.Backoff, d.Step, d.Bounds, tt.backoff, tt.step, tt.bounds)
			}
			if stopped := tt.backoff == 0; stopped != (d.Outcome == retry.OutcomeExhausted) {
				t.Errorf("outcome %v", d.Outcome)
			}
		})
	}
}

func TestAPartOfASecondTakesNoMinuteOffADeadlineOrAHint(t *testing.T) {
	at := now.Add(500 * time.Millisecond)
	r := request("BUSY", 0)
	d := plain(t, func(p *retry.Settings) { p.Deadline = retry.Duration(minutes(5)) }).Decide(r, at)
	check.Same(t, []any{minutes(5), now.Add(minutes(5))}, []any{d.Backoff, d.NextRetryTime}, "wait that the deadline leaves")
	r.RetryUntil = now.Add(minutes(30))
	r.RetryAfter = retry.Hint{Source: retry.HintVariable, Until: r.RetryUntil}
	d = plain(t).Decide(r, at)
	check.Same(t, []any{minutes(30), r.RetryUntil}, []any{d.Backoff, d.NextRetryTime}, "wait until the time that was asked for")
}

func TestEarlierDeadlineOfJobAndPolicyHolds(t *testing.T) {
	day := plain(t, func(p *retry.Settings) { p.Deadline = retry.Duration(24 * time.Hour) })
	first := now.Add(-20 * time.Hour)
	for name, tt := range map[string]struct {
		policy             *retry.Policy
		first, until, want time.Time
	}{
		"the policy's, from the first": {policy: day, first: first, want: first.Add(24 * time.Hour)},
		"the job's is earlier":         {policy: day, first: first, until: now.Add(time.Hour), want: now.Add(time.Hour)},
		"the policy's is earlier":      {policy: day, first: first, until: now.Add(9 * time.Hour), want: now.Add(4 * time.Hour)},
		"to the second, never later":   {policy: plain(t), until: now.Add(time.Hour + 900*time.Millisecond), want: now.Add(time.Hour)},
	} {
		r := request("BUSY", 0)
		r.FirstFailure, r.RetryUntil = tt.first, tt.until
		if d := tt.policy.Decide(r, now); !d.Deadline.Equal(tt.want) || d.Deadline.Location() != time.UTC && !tt.want.IsZero() {
			t.Errorf("%s: deadline %v, want %v", name, d.Deadline, tt.want)
		}
	}
}
