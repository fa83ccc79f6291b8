package errtext_test

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/testing/check"
)

// A time is one for trying again only where a word announces it.
func TestATimeThatATextNamesIsRead(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -3*60*60)
	now := time.Date(2026, 11, 24, 20, 0, 0, 0, zone)
	for _, row := range check.Rows(t, "testdata/hints.tsv", 2) {
		want, text := row[0], row[1]
		x := errtext.Read(text)
		got := "none"
		wait, until := x.Hint(now)
		if wait > 0 {
			got = wait.String()
		} else if !until.IsZero() {
			got = until.In(zone).Format(time.DateTime)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		x.Free()
	}
}
