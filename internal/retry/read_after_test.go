package retry_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
)

// The comments name where a form was seen.
func TestRetryAfterIsReadAsServersWriteIt(t *testing.T) {
	for value, want := range map[string]string{
		// RFC 9110.
		"120":                             "VARIABLE after 2m0s",
		"0":                               "VARIABLE after 0s",
		"999999999":                       "VARIABLE after 8784h0m0s",
		"99999999999":                     "VARIABLE after 8784h0m0s",
		"999999999999999999999999":        "VARIABLE after 8784h0m0s",
		"Sun, 12 Jan 2025 11:00:00 GMT":   "VARIABLE until 2025-01-12T11:00:00Z",
		"Sunday, 12-Jan-25 11:00:00 GMT":  "VARIABLE until 2025-01-12T11:00:00Z",
		"Sun Jan 12 11:00:00 2025":        "VARIABLE until 2025-01-12T11:00:00Z",
		"Sat Feb  1 11:00:00 2025":        "VARIABLE until 2025-02-01T11:00:00Z",
		" \t 0 \r\n":                      "VARIABLE after 0s",
		" Sun, 12 Jan 2025 11:00:00 GMT ": "VARIABLE until 2025-01-12T11:00:00Z",
		"Sun, 12 Jan 2020 11:00:00 GMT":   "VARIABLE until 2020-01-12T11:00:00Z", // that it is past is seen by the rule

		// A fraction of seconds (Sentry, Microsoft Graph), rounded up.
		"1.5":           "VARIABLE after 2s",
		"0.493":         "VARIABLE after 1s",
		"292.052427053": "VARIABLE after 4m53s",
		"2.0":           "VARIABLE after 2s",

		// A duration of Go (GitHub's 1m0s, dadosabertos.camara.leg.br's 30s, gateways of language models).
		"60s": "VARIABLE after 1m0s", "1m0s": "VARIABLE after 1m0s", "1m30s": "VARIABLE after 1m30s", "2m59.56s": "VARIABLE after 3m0s",
		"370ms": "VARIABLE after 1s", "0s": "VARIABLE after 0s", "5m": "VARIABLE after 5m0s", "1h30m": "VARIABLE after 1h30m0s",
		// In words.
		"60 seconds": "VARIABLE after 1m0s", "5 Minutes": "VARIABLE after 5m0s", "2 min": "VARIABLE after 2m0s", "1 hour 30 minutes": "VARIABLE after 1h30m0s",
		"90 segundos": "VARIABLE after 1m30s", "1 hora": "VARIABLE after 1h0m0s", "2 dias": "VARIABLE after 48h0m0s",
		"1,5 min": "VARIABLE after 1m30s", "1.1 min": "VARIABLE after 1m6s", "9999999999 days": "VARIABLE after 8784h0m0s",
		// ISO 8601.
		"PT60S": "VARIABLE after 1m0s", "PT1H30M": "VARIABLE after 1h30m0s", "P1D": "VARIABLE after 24h0m0s", "P1DT12H": "VARIABLE after 36h0m0s",
		"P2W": "VARIABLE after 336h0m0s", "PT0.5S": "VARIABLE after 1s", "PT0,5S": "VARIABLE after 1s", "pt60s": "VARIABLE after 1m0s", "PT0S": "VARIABLE after 0s",

		// A header that was sent twice.
		"120, 120":     "VARIABLE after 2m0s",
		"120,120":      "VARIABLE after 2m0s",
		"60, 120":      "VARIABLE after 2m0s",
		"120, 60, 30":  "VARIABLE after 2m0s",
		"60s, 60s":     "VARIABLE after 1m0s",
		"60s, 1m, 60s": "VARIABLE after 1m0s",
		"Sun, 12 Jan 2025 11:00:00 GMT, Sun, 12 Jan 2025 12:00:00 GMT": "VARIABLE until 2025-01-12T12:00:00Z",
		"Sun Jan 12 11:00:00 2025, Sun, 12 Jan 2025 11:00:00 GMT":      "VARIABLE until 2025-01-12T11:00:00Z",

		// The time since 1970, in seconds (Cloud Foundry) and milliseconds.
		"1736683200":     "VARIABLE until 2025-01-12T12:00:00Z",
		"1736683200000":  "VARIABLE until 2025-01-12T12:00:00Z",
		"1736683200.125": "VARIABLE until 2025-01-12T12:00:00Z",

		// Dates in other forms than HTTP's: Go's RFC 1123 (UTC), mail, ISO 8601.
		"Sun, 12 Jan 2025 11:00:00 UTC":         "VARIABLE until 2025-01-12T11:00:00Z",
		"Sun, 12 Jan 2025 11:00:00 Z":           "VARIABLE until 2025-01-12T11:00:00Z",
		"Sun, 12 Jan 2025 11:00:00 +0000":       "VARIABLE until 2025-01-12T11:00:00Z",
		"Sun, 12 Jan 2025 11:00:00 -0300":       "VARIABLE until 2025-01-12T14:00:00Z",
		"Sun, 12 Jan 2025 11:00:00 -0300 (BRT)": "VARIABLE until 2025-01-12T14:00:00Z",
		"12 Jan 2025 11:00:00 GMT":              "VARIABLE until 2025-01-12T11:00:00Z",
		"2025-01-12T11:00:00Z":                  "VARIABLE until 2025-01-12T11:00:00Z",
		"2025-01-12T11:00:00-03:00":             "VARIABLE until 2025-01-12T14:00:00Z",
		"2025-01-12T11:00:00.123Z[Etc/UTC]":     "VARIABLE until 2025-01-12T11:00:00Z",
		"2025-01-12 11:00:00+00":                "VARIABLE until 2025-01-12T11:00:00Z",
		"2025-01-12T11:00:00":                   "VARIABLE until 2025-01-12T14:00:00Z", // the policy's zone
		"12/01/2025 11:00":                      "VARIABLE until 2025-01-12T14:00:00Z",
		"2025-01-13":                            "VARIABLE until 2025-01-13T03:00:00Z", // when the day begins
		"9999-12-31T23:59:59Z":                  "VARIABLE until 9999-12-31T23:59:59Z",

		"": "none", " \n": "none",
	} {
		if h, reason := retry.ParseRetryAfter(value, saoPaulo(t)); reason != "" || say(h) != want {
			t.Errorf("%q: %s, ignored as %q, want %s", value, say(h), reason, want)
		}
	}
}

func TestUnreadableRetryAfterIsIgnoredWithAReason(t *testing.T) {
	for reason, values := range map[retry.IgnoredReason][]string{
		retry.IgnoredUnreadable: {
			"soon", "null", "N/A", "-", "--1", "+60", "120abc", "12 0", "1.5.2", "1e3", "0x10", "١٢", "−1", "NaN", "Infinity", "60 parsecs", "s", "5m 5m", "30m 1h",
			"P", "PT", "P1", "P1Y", "P1M", "P1DT", "PT5M1H", "PT-5S", "11:00", "00:02:00", "Sun, 12 Jan 2025 11:00:00", "Sun, 12 Jan 2025 11:00:00 EST",
			"Sun, 31 Feb 2025 11:00:00 GMT", "Sun, 12 Jan 2025 25:00:00 GMT", "2025-01-12T11:00:00+25:00", "2025-01-12T11:00:00[Asia/Tokyo]", "12/31/2025 11:00",
			"120;3600", "120, soon", ", ,", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17", strings.Repeat("1", 200), "Retry-After: 120", "\x00", "\xff",
		},
		retry.IgnoredNegative:  {"-1", "-1.5", "-60s", "-PT60S", "-0"},
		retry.IgnoredAmbiguous: {"1,5", "1,500", "60,120", "1 hour, 30 minutes", "60s, 120", "120, Sun, 12 Jan 2025 11:00:00 GMT"},
		retry.IgnoredYear:      {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00", "Thu, 01 Jan 1970 00:00:00 GMT", "1899-12-30", "1999-12-31T23:59:59Z"},
	} {
		for _, value := range values {
			if h, got := retry.ParseRetryAfter(value, saoPaulo(t)); got != reason || h != (retry.Hint{}) {
				t.Errorf("%q: %s, ignored as %q, want %s", value, say(h), got, reason)
			}
		}
	}
}

// An insurer's text is searched as before: what is found goes by the same reader, and no more is found.
func TestErrorTextHasFewerFormsOfRetryAfter(t *testing.T) {
	for _, value := range []string{"PT60S", "2 min", "1m30s", "12/01/2025 11:00", "Sun, 12 Jan 2025 11:00:00 UTC", "2025-01-13", "2025-01-12T11:00:00"} {
		if h, reason := retry.ParseRetryAfter(value, time.UTC); reason != "" || h == (retry.Hint{}) {
			t.Errorf("the variable is not read: %q", value)
		}
		if got := hintOf(t, plain(t), "Retry-After: "+value); got != "none" {
			t.Errorf("the text %q: %s", value, got)
		}
	}
}

func TestIgnoredVariablesAreKeptWithTheDecision(t *testing.T) {
	r := request("BUSY", 1)
	without := answer(t, plain(t), r)
	r.Ignored = retry.Ignored{RetryAfter: retry.IgnoredAmbiguous, LastSubmissionTime: retry.IgnoredYear}
	with := answer(t, plain(t), r)
	if got := fmt.Sprint(with.Ignored); got != "{AMBIGUOUS YEAR}" {
		t.Errorf("kept is %s", got)
	}
	with.Ignored = retry.Ignored{}
	if with != without {
		t.Errorf("decided otherwise: %+v, without them %+v", with, without)
	}
}

// The canonical forms, those that HTTP and RFC 3339 define, are read back as they were written.
func TestCanonicalFormsOfRetryAfterAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(0, 366*24*3600).Draw(t, "seconds")
		at := time.Unix(rapid.Int64Range(retry.FirstTime.Unix(), 4_102_444_799).Draw(t, "time"), 0).UTC()
		span, until := retry.Hint{Source: retry.HintVariable, After: time.Duration(seconds) * time.Second}, retry.Hint{Source: retry.HintVariable, Until: at}
		for text, want := range map[string]retry.Hint{
			strconv.FormatInt(seconds, 10): span, span.After.String(): span, contract.ISODuration(span.After): span,
			at.Format(http.TimeFormat): until, at.Format(time.RFC3339): until, at.Format(time.ANSIC): until, at.Format(time.RFC1123): until, at.Format(time.RFC1123Z): until,
		} {
			got, reason := retry.ParseRetryAfter(text, time.UTC)
			if reason != "" || got.Source != want.Source || got.After != want.After || !got.Until.Equal(want.Until) {
				t.Errorf("%q: %s, ignored as %q, want %s", text, say(got), reason, say(want))
			}
		}
	})
}

// FuzzRetryAfter holds of any text: it is a span of at most a year, or a time from 2000 on, or nothing with a reason, and the
// wait keeps to the bounds.
func FuzzRetryAfter(f *testing.F) {
	for _, text := range []string{
		"120", "1.5", "2m59.56s", "1 hora 30 minutos", "P1DT12H", "60, 120", "1736683200", "Sun, 12 Jan 2025 11:00:00 GMT, Sun, 12 Jan 2025 12:00:00 GMT",
		"Sunday, 12-Jan-25 11:00:00 GMT", "2025-01-12T11:00:00.123Z[Etc/UTC]", "21/11/2026, 10:00:00", "Sun Mar 31 14:14:24 BRT 2019", "-60s", "9999999999999 d",
		"20261121100000-0300", "0001-01-01T00:00:00Z",
	} {
		f.Add(text)
	}
	p := plain(f)
	f.Fuzz(func(t *testing.T, text string) {
		h, reason := retry.ParseRetryAfter(text, time.UTC)
		switch {
		case h == (retry.Hint{}):
			if reason == "" && strings.TrimSpace(text) != "" {
				t.Fatalf("%q is nothing, without a reason", text)
			}
			return
		case reason != "" || h.Source != retry.HintVariable:
			t.Fatalf("%q is %+v and ignored as %q", text, h, reason)
		case h.Until.IsZero() && (h.After < 0 || h.After > 366*24*time.Hour || h.After%time.Second != 0):
			t.Errorf("%q is after %v", text, h.After)
		case !h.Until.IsZero() && (h.After != 0 || h.Until.Before(retry.FirstTime)):
			t.Errorf("%q is %+v", text, h)
		}
		r := request("BUSY", 0)
		r.RetryAfter = h
		if d := answer(t, p, r); d.Backoff < p.Min || d.Backoff > p.Max {
			t.Errorf("%q waits %v", text, d.Backoff)
		}
	})
}
