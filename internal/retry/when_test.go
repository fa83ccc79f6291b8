package retry_test

import (
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// 10:00 in São Paulo is 13:00 UTC.
func TestLastSubmissionTimeIsReadInFiveSpellings(t *testing.T) {
	for value, want := range map[string]string{
		"2026-11-21T13:00:00Z": "2026-11-21T13:00:00Z", "2026-11-21T10:00:00-03:00": "2026-11-21T13:00:00Z",
		"2026-11-21T13:00:00Z[Etc/UTC]": "2026-11-21T13:00:00Z", // FEEL's now()
		"Sat, 21 Nov 2026 13:00:00 GMT": "2026-11-21T13:00:00Z",
		"1795266000":                    "2026-11-21T13:00:00Z", "1795266000.5": "2026-11-21T13:00:00.5Z", "946684800": "2000-01-01T00:00:00Z",
		"2026-11-21 10:00:00": "2026-11-21T13:00:00Z", "2026-11-21 10:00": "2026-11-21T13:00:00Z", "2026-11-21T10:00:00.123": "2026-11-21T13:00:00.123Z",
		"2026-11-21T10:00": "2026-11-21T13:00:00Z", "21/11/2026 10:00:00": "2026-11-21T13:00:00Z", " 21/11/2026 10:00 ": "2026-11-21T13:00:00Z",
		"01/02/2026 00:00": "2026-02-01T03:00:00Z", "": "0001-01-01T00:00:00Z", // none
	} {
		got, ok := retry.ParseLastSubmissionTime(value, saoPaulo(t))
		if !ok || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%q: %v, read %v, want %s", value, got.UTC(), ok, want)
		}
	}
}

func TestRetryAfterIsReadInSixSpellings(t *testing.T) {
	for value, want := range map[string]string{
		"120": "VARIABLE after 2m0s", "0": "VARIABLE after 0s", "1.5": "VARIABLE after 2s", "99999999999": "VARIABLE after 8784h0m0s", "1768212000000": "VARIABLE after 8784h0m0s",
		"PT1H30M": "VARIABLE after 1h30m0s", "P1DT12H": "VARIABLE after 36h0m0s", "PT0.5S": "VARIABLE after 1s", "P2W": "VARIABLE after 336h0m0s",
		"Sun, 12 Jan 2025 11:00:00 GMT":     "VARIABLE until 2025-01-12T11:00:00Z",
		"2025-01-12T11:00:00-03:00":         "VARIABLE until 2025-01-12T14:00:00Z",
		"2025-01-12T11:00:00.123Z[Etc/UTC]": "VARIABLE until 2025-01-12T11:00:01Z", "2025-01-12 11:00:00": "VARIABLE until 2025-01-12T14:00:00Z",
		"12/01/2025 11:00": "VARIABLE until 2025-01-12T14:00:00Z", "9999-12-31T23:59:59Z": "VARIABLE until 9999-12-31T23:59:59Z",
		"": "none",
	} {
		if h, ok := retry.ParseRetryAfter(value, saoPaulo(t)); !ok || say(h) != want {
			t.Errorf("%q: %s, read %v, want %s", value, say(h), ok, want)
		}
	}
}

// FuzzRetryAfter holds of any text: it is a duration of at most a year, or a time from 2000 on, or nothing.
func FuzzRetryAfter(f *testing.F) {
	for _, text := range []string{"120", "1.5", "P1DT12H", "2025-01-12T11:00:00.123Z[Etc/UTC]", "21/11/2026 10:00", "-60s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, ok := retry.ParseRetryAfter(text, time.UTC)
		if some := h != (retry.Hint{}); some != ok && strings.TrimSpace(text) != "" || some && h.Source != retry.HintVariable {
			t.Errorf("%q is %+v, read %v", text, h, ok)
		}
		if after := time.Duration(h.After); after < 0 || after > 366*24*time.Hour || after%time.Second != 0 ||
			!h.Until.IsZero() && (h.After != 0 || h.Until.Year() < 2000) {
			t.Errorf("%q is %+v", text, h)
		}
	})
}
