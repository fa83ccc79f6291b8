package retry_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/retry"
)

// drawPolicy draws any policy that Extend accepts: no valid corner is left out.
func drawPolicy(t *rapid.T) *retry.Policy {
	precision := rapid.SampledFrom([]string{"minute", "second", "millisecond"}).Draw(t, "precision")
	unit := int64(units[precision])
	shortest := rapid.Int64Range(1, 600).Draw(t, "min") * unit
	longest := shortest + rapid.Int64Range(0, 500_000).Draw(t, "max over min")*unit
	p := retry.Settings{
		Name:      rapid.StringMatching(`[a-z][a-z0-9-]{0,20}`).Draw(t, "name"),
		Base:      retry.Duration(rapid.Int64Range(1, longest/int64(time.Millisecond)).Draw(t, "base") * int64(time.Millisecond)),
		Factor:    rapid.SampledFrom([]float64{1, 1.1, 1.5, 2, 3.7, 5, 1000}).Draw(t, "factor"),
		Min:       retry.Duration(shortest),
		Max:       retry.Duration(longest),
		Jitter:    rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1)).Draw(t, "jitter"),
		Precision: precision, MaxRetries: rapid.IntRange(0, 40).Draw(t, "maxRetries"),
		Zone: time.UTC, IDs: retry.ClaimIDs, Unknown: retry.Unknown, OnEmptyError: retry.RejectEmptyError,
	}
	if rapid.Bool().Draw(t, "has a deadline") {
		p.Deadline = retry.Duration(rapid.Int64Range(1, int64(100*time.Hour)).Draw(t, "deadline"))
	}
	made, err := new(retry.Policy).Extend(p)
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	return made
}

// drawCase draws a question and the time at which it is asked, hints and deadlines of all kinds included.
func drawCase(t *rapid.T) (retry.Request, time.Time) {
	at := now.Add(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "now")))
	around := func(name string) time.Time {
		return at.Add(time.Duration(rapid.Int64Range(-int64(time.Hour), int64(20*time.Hour)).Draw(t, name)))
	}
	r := drawRequest(t)
	r.RetryCount = rapid.IntRange(0, 45).Draw(t, "count")
	if rapid.Bool().Draw(t, "until") {
		r.RetryUntil = around("retryUntil")
	}
	if rapid.Bool().Draw(t, "failed before") {
		r.FirstFailure = at.Add(-time.Duration(rapid.Int64Range(0, int64(200*time.Hour)).Draw(t, "first failure")))
	}
	switch rapid.SampledFrom([]string{"none", "none", "span", "time", "text"}).Draw(t, "hint") {
	case "span":
		r.RetryAfter = retry.Hint{Source: retry.HintVariable, After: retry.ISODuration(time.Duration(rapid.Int64Min(0).Draw(t, "after")))}
	case "time":
		r.RetryAfter = retry.Hint{Source: retry.HintVariable, Until: around("until")}
	case "text":
		r.SubmissionError = fmt.Sprintf("Retry-After: %d", rapid.IntRange(0, 1<<40).Draw(t, "seconds"))
	}
	return r, at
}

func TestEveryDecisionOfEveryPolicyKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		r, at := drawCase(t)
		d := p.Decide(r, at)
		if again := p.Decide(r, at); !reflect.DeepEqual(again, d) {
			t.Fatalf("asked twice: %+v, then %+v", d, again)
		}
		if d.Outcome != retry.OutcomeRetry {
			if d.Backoff != 0 || !d.NextRetryTime.IsZero() || d.ErrorCode() == "" {
				t.Fatalf("stopped with %+v", d)
			}
			return
		}
		if wait := retry.Duration(d.Backoff); wait < p.Min || wait > p.Max || d.Backoff%unit(p) != 0 {
			t.Fatalf("waits %v, want whole units of %v from %v to %v", d.Backoff, unit(p), p.Min, p.Max)
		}
		if !d.NextRetryTime.After(at) || d.NextRetryTime.Nanosecond() != 0 || d.NextRetryTime.Location() != time.UTC {
			t.Fatalf("next try at %v, asked at %v: want a whole second to come, in UTC", d.NextRetryTime, at)
		}
		if gap := d.NextRetryTime.Sub(at) - d.Backoff; gap <= -time.Second || gap >= time.Second {
			t.Fatalf("waits %v, but the next try is at %v, %v apart", d.Backoff, d.NextRetryTime, gap)
		}
		if !d.Deadline.IsZero() && d.NextRetryTime.After(d.Deadline) {
			t.Fatalf("next try at %v, deadline %v", d.NextRetryTime, d.Deadline)
		}
		if slices.Contains(d.Bounds, retry.BoundDeadline) {
			return // pulled forward: out of its band, and before the time of the hint
		}
		switch d.Step {
		case retry.StepBackoff:
			if shortest, longest, _ := p.Band(r.RetryCount); d.Backoff < shortest || d.Backoff > longest {
				t.Fatalf("waits %v, want %v..%v, bounds %s", d.Backoff, shortest, longest, d.Bounds)
			}
		case retry.StepHint:
			if !slices.Contains(d.Bounds, retry.BoundMax) && d.NextRetryTime.Before(d.Hint.Until) {
				t.Fatalf("next try at %v, the other side said %v", d.NextRetryTime, d.Hint.Until)
			}
			if !slices.Contains(d.Bounds, retry.BoundMax) && d.Backoff < time.Duration(d.Hint.After) {
				t.Fatalf("waits %v, the other side said %v", d.Backoff, d.Hint.After)
			}
		default:
			t.Fatalf("a retry by %s", d.Step)
		}
	})
}

func TestBandLiesWithinTheBoundsAndNeverShrinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		n := rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, 1<<31-1)).Draw(t, "retryCount")
		from, to, _ := p.Band(n)
		least, most := time.Duration(p.Min), time.Duration(p.Max)
		if from < least || to > most || from > to || from%unit(p) != 0 || to%unit(p) != 0 {
			t.Fatalf("%v..%v, want whole units of %v within %v..%v", from, to, unit(p), p.Min, p.Max)
		}
		nextFrom, nextTo, _ := p.Band(n + 1)
		if nextFrom < from || nextTo < to {
			t.Fatalf("retry %d: %v..%v, the next one %v..%v", n, from, to, nextFrom, nextTo)
		}
		if d := p.Delay(n); d > most || d%time.Millisecond != 0 || d > p.Delay(n+1) {
			t.Fatalf("%v before jitter, then %v, want whole milliseconds up to %v, never fewer", d, p.Delay(n+1), p.Max)
		}
	})
}
