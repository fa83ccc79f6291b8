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
		90 * time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s", 240 * time.Hour: "240h",
	} {
		if got := retry.FormatDuration(d); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
	if _, err := plain(t).With(retry.Overrides{Max: 400 * 24 * time.Hour}); err == nil || !strings.Contains(err.Error(), "is 9600h but must be at most 8784h") {
		t.Errorf("a fault has other durations: %v", err)
	}
}
