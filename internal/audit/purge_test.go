package audit_test

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

func TestRecordsAreKeptForWholeMonths(t *testing.T) {
	for now, want := range map[time.Time]string{
		time.Date(2026, 1, 31, 23, 59, 59, 0, time.UTC):                     "2021-01-01",
		time.Date(2026, 1, 31, 22, 0, 0, 0, time.FixedZone("-03", -3*3600)): "2021-02-01", // it is February in UTC
		time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC):                       "2021-03-01",
	} {
		got := audit.Cutoff(now, 60)
		if got.Format(time.DateOnly) != want || got.Location() != time.UTC || !got.Equal(got.Truncate(24*time.Hour)) {
			t.Errorf("%s less 60 months: %s, want %s", now, got, want)
		}
	}
}
