package events_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

func BenchmarkFromRecord(b *testing.B) {
	r := eventstest.Samples()[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := events.FromRecord(&r); err != nil {
			b.Fatal(err)
		}
	}
}
