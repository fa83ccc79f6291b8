package text_test

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/text"
)

func TestSpanCountsInMinutesUpToFourHours(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		0:                              "0 min",
		400 * time.Microsecond:         "0 min",
		1074 * time.Millisecond:        "1.074 s",
		59 * time.Second:               "59 s",
		time.Minute:                    "1 min",
		90*time.Second + 5e8:           "1 min 30.5 s",
		90 * time.Minute:               "90 min",
		4 * time.Hour:                  "240 min",
		4*time.Hour + time.Second:      "4 h 1 s",
		13*time.Hour + 55*time.Minute:  "13 h 55 min",
		72 * time.Hour:                 "72 h",
		4 * day:                        "96 h",
		4*day + time.Hour:              "4 d 1 h",
		30 * day:                       "30 d",
		100*day + 61*time.Minute + 1e9: "100 d 1 h 1 min 1 s",
	} {
		if got := text.In(text.English).Span(d); got != want {
			t.Errorf("%s is written %q, want %q", d, got, want)
		}
	}
}

func TestAboutDropsWhatIsTooFine(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour:                      "0 min",
		1500 * time.Millisecond:         "1 s",
		9*time.Minute + 59*time.Second:  "9 min 59 s",
		10*time.Minute + 59*time.Second: "10 min",
		26*time.Hour + 90*time.Second:   "26 h 1 min",
		100*time.Hour + 59*time.Minute:  "4 d 4 h",
	} {
		if got := text.In(text.English).About(d); got != want {
			t.Errorf("%s is written %q, want %q", d, got, want)
		}
	}
}

func TestRangeNamesACommonUnitOnce(t *testing.T) {
	for want, band := range map[string][2]time.Duration{
		"8 to 12 min":          {8 * time.Minute, 12 * time.Minute},
		"5 min":                {5 * time.Minute, 5 * time.Minute},
		"45 s to 2 min":        {45 * time.Second, 2 * time.Minute},
		"1 min 30 s to 3 min":  {90 * time.Second, 3 * time.Minute},
		"165 min to 5 h 5 min": {165 * time.Minute, 305 * time.Minute},
	} {
		if got := text.In(text.English).Sprintf("%s", text.Range{Shortest: band[0], Longest: band[1]}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
