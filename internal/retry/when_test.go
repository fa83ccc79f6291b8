package retry_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
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

func TestUnreadableLastSubmissionTimeIsIgnored(t *testing.T) {
	for _, value := range []string{
		"ontem", "10:40", "PT5M", "null", "-1", "\x00", "2025-02-30T00:00:00Z", "11/21/2026 10:00:00", "1/2/2026",
		"2025-01-12T10:40:00Z[Etc/UTC", "Sat Nov 21 13:00:00 EST 2026", "2026-11-21", strings.Repeat("1", 200),
		// Impossible years.
		"0001-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "0", "20261121100000",
		"1795266000000", "99999999999999999999",
	} {
		if at, ok := retry.ParseLastSubmissionTime(value, saoPaulo(t)); ok || !at.IsZero() {
			t.Errorf("%q is read as %v", value, at)
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

func TestUnreadableRetryAfterIsIgnored(t *testing.T) {
	for _, value := range []string{
		"soon", "null", "-1", "+60", "120abc", "1,5", "120, 120", "1e3", "NaN", "P1Y", "PT-5S", "-PT5S", "P9999999999D",
		"60s", "5m", "2 min", "11:00", "Sun, 12 Jan 2025 11:00:00 EST", "Sun, 31 Feb 2025 11:00:00 GMT", "2025-01-12",
		"12/31/2025 11:00", "\xff",
		// Impossible years.
		"0001-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT", "1999-12-31 23:59",
	} {
		if h, ok := retry.ParseRetryAfter(value, time.UTC); ok || h != (retry.Hint{}) {
			t.Errorf("%q is read as %s", value, say(h))
		}
	}
}

func TestIgnoredVariablesAreKeptWithTheDecision(t *testing.T) {
	r := request("BUSY", 1)
	r.Ignored = []string{"lastSubmissionTime", "retryAfter"}
	d := answer(t, plain(t), r)
	check.Same(t, r.Ignored, d.Ignored, "ignored")
	check.Same(t, minutes(10), d.Backoff, "wait")
}

func TestCanonicalSpellingsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(0, 366*24*3600).Draw(t, "seconds")
		at := time.Unix(rapid.Int64Range(946_684_800, 4_102_444_799).Draw(t, "time"), 0).UTC()
		span, until := retry.Hint{Source: retry.HintVariable, After: retry.ISODuration(time.Duration(seconds) * time.Second)}, retry.Hint{Source: retry.HintVariable, Until: at}
		for text, want := range map[string]retry.Hint{
			strconv.FormatInt(seconds, 10): span, span.After.String(): span,
			at.Format(http.TimeFormat): until, at.Format(time.RFC3339): until, at.Format("2006-01-02 15:04:05"): until, at.Format("02/01/2006 15:04:05"): until,
		} {
			got, ok := retry.ParseRetryAfter(text, time.UTC)
			if !ok || got.Source != want.Source || got.After != want.After || !got.Until.Equal(want.Until) {
				t.Errorf("%q: %s, read %v, want %s", text, say(got), ok, say(want))
			}
			if last, ok := retry.ParseLastSubmissionTime(text, time.UTC); want == until && (!ok || !last.Equal(at)) {
				t.Errorf("%q: %v, read %v", text, last, ok)
			}
		}
	})
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
