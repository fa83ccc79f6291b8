package sqlite

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/audittest"
)

func TestAPersonLowersTheFloor(t *testing.T) {
	s, _, _ := newStore(t)
	check := func(want int) {
		t.Helper()
		if floor, err := s.Floor(t.Context()); err != nil || floor != want {
			t.Errorf("the floor is %d, %v; want %d", floor, err, want)
		}
	}
	check(0)
	if floor, err := s.Keep(t.Context(), 5); err != nil || floor != 5 { // a new store, set to 5m at first
		t.Fatal(floor, err)
	}
	if _, err := s.Keep(t.Context(), 60); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ to, floor int }{{18, 18}, {24, 18}, {1, 1}} { // never raised
		must(t, s.Shorten(t.Context(), step.to))
		check(step.floor)
	}
}

func TestAnOlderStoreWithRecordsKeepsFiveYears(t *testing.T) {
	for records, want := range []int{0, 60} {
		s, at, secret := newStore(t)
		_, err := s.Append(t.Context(), audittest.Records(0, records), nil)
		must(t, err, s.Close())
		must(t, at.exec(t, secondSchema))
		s = openFile(t, at.path, secret)
		if floor, err := s.Floor(t.Context()); err != nil || floor != want {
			t.Errorf("with %d records the floor is %d, %v; want %d", records, floor, err, want)
		}
	}
}

func TestAFloorThatCannotBeReadRemovesNothing(t *testing.T) {
	s, f, _ := newStore(t)
	for _, value := range []string{"", "five years", "-60", "0"} {
		f.Tamper(t, "INSERT OR REPLACE INTO meta (name, value) VALUES ('retention', '"+value+"')")
		if _, err := s.Floor(t.Context()); err == nil {
			t.Errorf("%q was read", value)
		}
		if _, err := s.Keep(t.Context(), 1); err == nil {
			t.Errorf("%q was passed over", value)
		}
	}
	must(t, s.Shorten(t.Context(), 18))
	if floor, err := s.Floor(t.Context()); err != nil || floor != 18 {
		t.Errorf("the floor is %d, %v; want the one that a person has set", floor, err)
	}
}
