package retry_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/retry"
)

// 10:00 in São Paulo is 13:00 UTC.
func TestTheLastSubmissionTimeIsReadAsSystemsWriteIt(t *testing.T) {
	for _, tt := range []struct {
		want   string
		values []string
	}{
		{"2026-11-21T13:00:00Z", []string{
			"2026-11-21T13:00:00Z", "2026-11-21T10:00:00-03:00", "2026-11-21T13:00:00.000Z", "2026-11-21t13:00:00z",
			"2026-11-21T13:00:00Z[Etc/UTC]", "2026-11-21T10:00:00-03:00[America/Sao_Paulo]", // Java and the broker
			"2026-11-21T10:00:00@America/Sao_Paulo", "2026-11-21T10:00:00[America/Sao_Paulo]", "2026-11-21T13:00:00@Etc/UTC", // FEEL
			"2026-11-21T10:00:00-0300", "2026-11-21T13:00:00.000+0000", // Jackson
			"2026-11-21T10:00:00-03", "2026-11-21 13:00:00+00", "2026-11-21 13:00:00.000+00", // PostgreSQL
			"2026-11-21 13:00:00 UTC", "2026-11-21 10:00:00 -0300", "2026-11-21 13:00:00 +0000 UTC", // Ruby and Go
			"2026-11-21T10:00:00", "2026-11-21T10:00", "2026-11-21 10:00:00", "2026-11-21 10:00:00.0", "2026-11-21 10:00", " 2026-11-21 10:00:00 ", // local, java.sql.Timestamp
			"2026/11/21 10:00:00", "2026/11/21 10:00", // logs of Go and nginx
			"21/11/2026 10:00:00", "21/11/2026 10:00", "21-11-2026 10:00:00", "21/11/2026, 10:00:00", "21/11/2026T10:00:00", "21/11/2026 10:00:00 -0300", // Brazil
			"20261121100000", "202611211000", "20261121100000-0300", "20261121T130000Z", "20261121130000.000+0000", // HL7, ISO 8601's basic form
			"1795266000", "1795266000000", "1795266000.0", // since 1970
			"Sat, 21 Nov 2026 13:00:00 GMT", "Saturday, 21-Nov-26 13:00:00 GMT", "Sat Nov 21 13:00:00 2026", "Sat, 21-Nov-2026 13:00:00 GMT", // HTTP and cookies
			"Sat, 21 Nov 2026 10:00:00 -0300", "21 Nov 2026 13:00:00 UTC", "Sat, 21 Nov 2026 13:00:00 +0000 (UTC)", // mail
			"Sat Nov 21 10:00:00 BRT 2026", "Sat Nov 21 13:00:00 UTC 2026", "Sat Nov 21 10:00:00 -03 2026", "Sat Nov 21 11:00:00 BRST 2026", // Java, date(1)
			"Sat Nov 21 2026 10:00:00 GMT-0300 (Horário Padrão de Brasília)", // JavaScript
		}},
		{"2026-11-21T03:00:00Z", []string{"2026-11-21", "21/11/2026", "2026/11/21", "20261121", "21-11-2026"}},
		{"2026-02-01T03:00:00Z", []string{"01/02/2026"}}, // day first, as Brazil writes it
		{"2026-11-21T13:00:00.5Z", []string{"2026-11-21T10:00:00.5", "2026-11-21T10:00:00,5", "2026-11-21 13:00:00,500Z", "21/11/2026 10:00:00,5", "1795266000.5", "1795266000500"}},
		{"2000-01-01T00:00:00Z", []string{"2000-01-01T00:00:00Z", "946684800", "946684800000"}},
		{"2099-12-31T23:59:59Z", []string{"2099-12-31T23:59:59Z", "4102444799"}},
		{"0001-01-01T00:00:00Z", []string{"", " \t"}}, // none
	} {
		for _, value := range tt.values {
			got, reason := retry.ParseLastSubmissionTime(value, saoPaulo(t))
			if reason != "" || got.UTC().Format(time.RFC3339Nano) != tt.want {
				t.Errorf("%q: %v, ignored as %q, want %s", value, got.UTC(), reason, tt.want)
			}
		}
	}
}

func TestUnreadableLastSubmissionTimeIsIgnoredWithAReason(t *testing.T) {
	for reason, values := range map[retry.IgnoredReason][]string{
		retry.IgnoredUnreadable: {
			"yesterday", "ontem", "10:40", "PT5M", "now()", "null", "-", "\x00", "2025-13-01T00:00:00Z", "2025-02-30T00:00:00Z", "2025-01-12T25:00:00Z", "2025-01-12T10:40:60Z",
			"11/21/2026 10:00:00", "11/21/2026 10:00:00 AM", "21/11/26", "1/2/2026", "2026-11-21T10:00:00+15:00", "2026-11-21T10:00:00-03:60", "2026-11-21T10:00:00[Asia/Tokyo]",
			"2026-11-21T10:00:00@Local", "2025-01-12T10:40:00Z[Etc/UTC", "Sat, 21 Nov 2026 13:00:00", "Sat Nov 21 13:00:00 EST 2026", "2026-W47-6", "2026-325", "[2026,11,21]",
		},
		retry.IgnoredNegative: {"-1", "-1795266000"},
		retry.IgnoredYear: {
			"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "2100-01-01T00:00:00Z", "12/05/1980", "19800512", "0", "1", "2026",
			"4102444800", "1795266000000000", "99999999999999999999",
		},
	} {
		for _, value := range values {
			if at, got := retry.ParseLastSubmissionTime(value, saoPaulo(t)); got != reason || !at.IsZero() {
				t.Errorf("%q: %v, ignored as %q, want %s", value, at, got, reason)
			}
		}
	}
}

func TestCanonicalFormsOfATimeAreReadBack(t *testing.T) {
	zone := saoPaulo(t)
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(retry.FirstTime.Unix(), 4_102_444_799).Draw(t, "time"), 0).In(zone)
		for _, layout := range []string{time.RFC3339, time.RFC3339Nano, time.RFC1123Z, "2006-01-02 15:04:05-07", "20060102150405-0700", "02/01/2006 15:04:05 -0700"} {
			if got, reason := retry.ParseLastSubmissionTime(at.Format(layout), zone); reason != "" || !got.Equal(at) {
				t.Errorf("%s: %v, ignored as %q", at.Format(layout), got, reason)
			}
		}
	})
}

// RFC 3339 has a reader of its own, because most jobs have that form. With a space for the T the other one reads it.
func TestBothReadersOfATimeAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.IntRange(-16*60, 16*60).Draw(t, "minutes east")
		at := time.Unix(rapid.Int64Range(0, 4_202_444_799).Draw(t, "time"), rapid.Int64Range(0, 999_999_999).Draw(t, "fraction"))
		text := at.In(time.FixedZone("", offset*60)).Format(rapid.SampledFrom([]string{time.RFC3339, time.RFC3339Nano}).Draw(t, "layout"))
		got, reason := retry.ParseLastSubmissionTime(text, time.UTC)
		other, otherReason := retry.ParseLastSubmissionTime(strings.Replace(text, "T", " ", 1), time.UTC)
		if !got.Equal(other) || reason != otherReason {
			t.Errorf("%s: %v, ignored as %q; with a space %v, ignored as %q", text, got, reason, other, otherReason)
		}
	})
}

// FuzzLastSubmissionTime holds of any text: it is a time of the years 2000 to 2099, or nothing with a reason.
func FuzzLastSubmissionTime(f *testing.F) {
	for _, text := range []string{
		"2026-11-21T13:00:00Z[Etc/UTC]", "2026-11-21 10:00:00,5", "21/11/2026, 10:00:00", "20261121100000-0300", "1795266000000", "Sat Nov 21 10:00:00 BRT 2026",
		"Sat Nov 21 2026 10:00:00 GMT-0300 (x)", "0001-01-01T00:00:00Z", "-1", "2026-11-21T10:00:00@America/Sao_Paulo",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, reason := retry.ParseLastSubmissionTime(text, time.UTC)
		if at.IsZero() {
			if reason == "" && strings.TrimSpace(text) != "" {
				t.Errorf("%q is no time, for no reason", text)
			}
			return
		}
		if reason != "" || at.Before(retry.FirstTime) || at.UTC().Year() > 2099 {
			t.Errorf("%q is %v, ignored as %q", text, at, reason)
		}
	})
}
