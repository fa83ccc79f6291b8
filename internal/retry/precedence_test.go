package retry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// Five things can be said about a failed submission, and any two of them at once. Which one decides is
// written down here for every pair: the count goes before the permanent error, that before the deadline, that
// before what the other side asked for, and that before the policy's own wait.
//
// The claim is asked about at 10:40, its own wait would be 10 minutes, the other side asks for 60, and where
// there is a deadline it is at 10:44, before the shortest wait of 5 minutes is over.
func TestWhichConditionDecidesWhereTwoHoldAtOnce(t *testing.T) {
	const (
		used      = "all retries are used up"
		permanent = "the error is permanent"
		tooLate   = "no retry fits before the deadline"
		asked     = "the other side asked for a time"
	)
	for _, tt := range []struct {
		holds   []string
		decides retry.Step
		becomes string
	}{
		{[]string{used, permanent}, retry.StepCount, "MAX_RETRIES_EXCEEDED: Permanent error, all 5 retries used"},
		{[]string{used, tooLate}, retry.StepCount, "MAX_RETRIES_EXCEEDED: Transient error, all 5 retries used"},
		{[]string{used, asked}, retry.StepCount, "MAX_RETRIES_EXCEEDED: Transient error, all 5 retries used"},
		{[]string{permanent, tooLate}, retry.StepPermanent, "PERMANENT_ERROR: Permanent error FATAL, no retry"},
		{[]string{permanent, asked}, retry.StepPermanent, "PERMANENT_ERROR: Permanent error FATAL, no retry"},
		{[]string{tooLate, asked}, retry.StepDeadline, "MAX_RETRIES_EXCEEDED: DEADLINE: Transient error, no retry fits before 2025-01-12T10:44:00Z"},

		// Each against the policy's own wait, which always holds.
		{[]string{used}, retry.StepCount, "MAX_RETRIES_EXCEEDED: Transient error, all 5 retries used"},
		{[]string{permanent}, retry.StepPermanent, "PERMANENT_ERROR: Permanent error FATAL, no retry"},
		{[]string{tooLate}, retry.StepDeadline, "MAX_RETRIES_EXCEEDED: DEADLINE: Transient error, no retry fits before 2025-01-12T10:44:00Z"},
		{[]string{asked}, retry.StepHint, "again at 11:40: Transient error, retry 2 of 5"},
		{nil, retry.StepBackoff, "again at 10:50: Transient error, retry 2 of 5"},

		{[]string{used, permanent, tooLate, asked}, retry.StepCount, "MAX_RETRIES_EXCEEDED: Permanent error, all 5 retries used"},
		{[]string{permanent, tooLate, asked}, retry.StepPermanent, "PERMANENT_ERROR: Permanent error FATAL, no retry"},
	} {
		t.Run(fmt.Sprint(tt.holds), func(t *testing.T) {
			r := request("BUSY", 1)
			if slices.Contains(tt.holds, used) {
				r.RetryCount = 5
			}
			if slices.Contains(tt.holds, permanent) {
				r.SubmissionError = "BUSY, then FATAL"
			}
			if slices.Contains(tt.holds, tooLate) {
				r.RetryUntil = now.Add(minutes(4))
			}
			if slices.Contains(tt.holds, asked) {
				r.RetryAfter = retry.Hint{Source: retry.HintVariable, After: retry.ISODuration(time.Hour)}
			}
			d := plain(t).Decide(r, now)
			got := d.ErrorCode()
			if d.Outcome == retry.OutcomeRetry {
				got = "again at " + d.NextRetryTime.Format("15:04")
			}
			if got += ": " + d.Reason().String(); got != tt.becomes {
				t.Errorf("became %q, want %q", got, tt.becomes)
			}
			if d.Step != tt.decides {
				t.Errorf("decided by %s, want %s", d.Step, tt.decides)
			}
			if d.Outcome != retry.OutcomeRetry && (d.Backoff != 0 || d.Bounds != nil || d.RetryCount != r.RetryCount) {
				t.Errorf("stopped with wait %v and count %d, want none and %d", d.Backoff, d.RetryCount, r.RetryCount)
			}
			// What did not decide is in the decision all the same: a person may need it.
			if d.Hint != r.RetryAfter || !d.Deadline.Equal(r.RetryUntil) {
				t.Errorf("hint %+v and deadline %v, want %+v and %v", d.Hint, d.Deadline, r.RetryAfter, r.RetryUntil)
			}
		})
	}
}

// The order of the rules is the precedence, whatever their classes.
func TestTheFirstRuleThatMatchesDecides(t *testing.T) {
	p := plain(t, func(p *retry.Settings) { p.Rules[0], p.Rules[1] = p.Rules[1], p.Rules[0] })
	if got := p.Classify("fatal, busy"); got.ID != "transient.BUSY" || got.Class != retry.Transient {
		t.Errorf("classified by %s, want transient.BUSY, the first of the two that match", got.ID)
	}
	var ids []string
	matching, _ := p.Explain("fatal, busy")
	for _, c := range matching {
		ids = append(ids, c.ID)
	}
	if got := strings.Join(ids, " "); got != "transient.BUSY permanent.FATAL" {
		t.Errorf("%s match", got)
	}
}

// A policy may say that what it does not know is not worth a retry.
func TestAnUnknownErrorCanBePermanentOrTransientByPolicy(t *testing.T) {
	for class, outcome := range map[retry.Class]retry.Outcome{
		retry.Unknown: retry.OutcomeRetry, retry.Transient: retry.OutcomeRetry, retry.Permanent: retry.OutcomePermanent,
	} {
		d := plain(t, func(p *retry.Settings) { p.Unknown = class }).Decide(request("what is this", 0), now)
		if d.Outcome != outcome || d.Error.Class != class || d.Error.ID != "unknown" {
			t.Errorf("unknown: %s gives %v, class %s by %s", class, d.Outcome, d.Error.Class, d.Error.ID)
		}
	}
}

func TestBlankErrorIsUnknownUnderEveryPolicy(t *testing.T) {
	p := plain(t, func(p *retry.Settings) { p.OnEmptyError, p.Unknown = retry.UnknownEmptyError, retry.Permanent })
	d := p.Decide(request(" \u200b\u3164\n", 0), now)
	if d.Outcome != retry.OutcomeRetry || d.Error.Class != retry.Unknown || d.Error.ID != "empty" {
		t.Errorf("%v, class %s by %s; want a retry, UNKNOWN by empty", d.Outcome, d.Error.Class, d.Error.ID)
	}
}

// The advice is asked apart from the class and the outcome: a claim that may have landed may have landed,
// also where it is not sent again by itself.
func TestTheAdviceIsGivenWithEveryOutcome(t *testing.T) {
	for text, count := range map[string]int{"BUSY sent": 0, "FATAL sent": 1, "busy SENT": 5, "sent": 2} {
		if d := plain(t).Decide(request(text, count), now); d.Advice != retry.AdviceCheckStatus {
			t.Errorf("%q, retryCount %d: advice %q", text, count, d.Advice)
		}
	}
	late := request("BUSY sent", 0)
	late.RetryUntil = now
	if d := plain(t).Decide(late, now); d.Advice != retry.AdviceCheckStatus || d.Step != retry.StepDeadline {
		t.Errorf("after the deadline: advice %q, step %s", d.Advice, d.Step)
	}
	if d := plain(t).Decide(request("BUSY", 0), now); d.Advice != "" {
		t.Errorf("not sent: advice %q", d.Advice)
	}
}
