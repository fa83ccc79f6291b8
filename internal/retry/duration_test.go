package retry_test

import (
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

func TestDurationIsWrittenWithoutNeedlessZeros(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 750 * time.Millisecond: "750ms", 10 * time.Second: "10s", time.Minute: "1m", 70 * time.Second: "1m10s", time.Hour: "1h",
		90 * time.Minute: "1h30m", time.Hour + time.Second: "1h1s", 240 * time.Hour: "240h",
	} {
		if got := retry.Duration(d).String(); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
	if _, err := plain(t).With(retry.Overrides{Max: retry.ISODuration(400 * 24 * time.Hour)}); err == nil || !strings.Contains(err.Error(), "is 9600h but must be from 5m, the longer of min and base, to 8784h") {
		t.Errorf("a fault has other durations: %v", err)
	}
}

func TestDurationIsReadInBothNotations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "90s": 90 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "24h": 24 * time.Hour,
		"PT5M": 5 * time.Minute, "P1D": 24 * time.Hour, "PT1.5S": 1500 * time.Millisecond, "P2W": 14 * 24 * time.Hour,
		"PT4194326.258S": 4194326258 * time.Millisecond, // its seconds as a float are a nanosecond more
	} {
		if got, err := retry.ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, want %v (%v)", text, got, want, err)
		}
	}
	for _, text := range []string{"", "5", "5 m", "1d", "P1Y", "P1M", "PT", "P", "P9999999999D", "PT5", "99999999999h", "999999h", "-5m", "-PT5M"} {
		if got, err := retry.ParseDuration(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}
