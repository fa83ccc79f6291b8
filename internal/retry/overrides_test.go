package retry_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

func overridden(t check.TB, p *retry.Policy, o retry.Overrides) *retry.Policy {
	t.Helper()
	q, err := p.With(o)
	check.Must(t, err)
	return q
}

func TestAnOverrideTakesThePlaceOfOneNumberOnly(t *testing.T) {
	numbers := func(p *retry.Policy) string {
		return fmt.Sprintf("base %v, min %v, max %v, %d retries, deadline %v", p.Base, p.Min, p.Max, p.MaxRetries, p.Deadline)
	}
	three := 3
	for _, tt := range []struct {
		name string
		o    retry.Overrides
		want string
	}{
		{"nothing", retry.Overrides{}, "base 10m, min 5m, max 4h, 5 retries, deadline 72h"},
		{"fewer retries", retry.Overrides{MaxRetries: &three}, "base 10m, min 5m, max 4h, 3 retries, deadline 72h"},
		{"a base below min", retry.Overrides{Base: retry.ISODuration(minutes(2))}, "base 2m, min 2m, max 4h, 5 retries, deadline 72h"},
		{"a max below base", retry.Overrides{Max: retry.ISODuration(minutes(8))}, "base 8m, min 5m, max 8m, 5 retries, deadline 72h"},
		{"a max of no whole minutes", retry.Overrides{Max: retry.ISODuration(150 * time.Second)}, "base 2m, min 2m, max 2m, 5 retries, deadline 72h"},
		{"a deadline", retry.Overrides{Deadline: retry.ISODuration(time.Hour)}, "base 10m, min 5m, max 4h, 5 retries, deadline 1h"},
	} {
		p := plain(t, func(p *retry.Settings) {
			p.Base, p.Deadline = retry.Duration(minutes(10)), retry.Duration(72*time.Hour)
		})
		q := overridden(t, p, tt.o)
		if got := numbers(q); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if numbers(p) != "base 10m, min 5m, max 4h, 5 retries, deadline 72h" {
			t.Errorf("%s: the policy itself changed: %s", tt.name, numbers(p))
		}
	}
}

func TestInvalidOverrideIsAFaultThatNamesItsSetting(t *testing.T) {
	tooMany := retry.RetriesCeiling + 1
	for _, tt := range []struct {
		o       retry.Overrides
		setting string
	}{
		{retry.Overrides{MaxRetries: &tooMany}, "maxRetries"},
		{retry.Overrides{Base: retry.ISODuration(-time.Minute)}, "base"},
		{retry.Overrides{Max: retry.ISODuration(time.Second)}, "max"}, // less than one minute, the precision
	} {
		q, err := plain(t).With(tt.o)
		if err == nil || q != nil || !strings.HasPrefix(err.Error(), `"`+tt.setting+`" `) {
			t.Errorf("%+v: %v, want a fault of %s", tt.o, err, tt.setting)
		}
	}
}

func TestADecisionByAnOverriddenPolicySaysSo(t *testing.T) {
	p, o := plain(t), retry.Overrides{Base: retry.ISODuration(minutes(20))}
	d := overridden(t, p, o).Decide(request("BUSY", 0), now)
	if d.Policy != p.Name || d.PolicyVersion == p.Version() || d.Overrides != o || d.Backoff != minutes(20) {
		t.Errorf("policy %s %s with %+v waits %v", d.Policy, d.PolicyVersion, d.Overrides, d.Backoff)
	}
	if other := overridden(t, p, retry.Overrides{Base: retry.ISODuration(minutes(21))}); other.Version() == d.PolicyVersion {
		t.Error("two different overrides have one version")
	}
	if same := overridden(t, p, o); same.Version() != d.PolicyVersion {
		t.Error("the same override has two versions")
	}
	if d := overridden(t, p, retry.Overrides{}).Decide(request("BUSY", 0), now); d.PolicyVersion != p.Version() || d.Overrides != (retry.Overrides{}) {
		t.Errorf("without overrides: version %s, overrides %+v", d.PolicyVersion, d.Overrides)
	}
}
