package sqlite

import (
	"slices"
	"testing"

	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAPersonLowersTheFloor(t *testing.T) {
	s, _, _ := newStore(t)
	held := func(want int) {
		t.Helper()
		if floor, err := s.Floor(t.Context()); err != nil || floor != want {
			t.Errorf("the floor is %d, %v; want %d", floor, err, want)
		}
	}
	held(0)
	if floor, err := s.Keep(t.Context(), 5); err != nil || floor != 5 { // a new store, set to 5m at first
		t.Fatal(floor, err)
	}
	if _, err := s.Keep(t.Context(), 60); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ to, floor int }{{18, 18}, {24, 18}, {1, 1}} { // never raised
		check.Must(t, s.Shorten(t.Context(), step.to))
		held(step.floor)
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
	check.Must(t, s.Shorten(t.Context(), 18))
	if floor, err := s.Floor(t.Context()); err != nil || floor != 18 {
		t.Errorf("the floor is %d, %v; want the one that a person has set", floor, err)
	}
}

func TestChangesOfTheSchemaAreFindings(t *testing.T) {
	for change, want := range map[string][]string{
		"":                                       nil,
		"DROP TRIGGER records_are_never_changed": {"trigger records_are_never_changed on records is missing"},
		"DROP TRIGGER tombstones_are_never_removed; CREATE TRIGGER tombstones_are_never_removed BEFORE DELETE ON tombstones BEGIN SELECT 1; END": {
			"trigger tombstones_are_never_removed on tombstones is not as the worker makes it",
		},
		"CREATE TRIGGER quiet BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END": {"trigger quiet on records was added"},
		"DROP INDEX records_at": {"index records_at on records is missing"},
		"DROP INDEX records_at; CREATE INDEX records_at ON records (at DESC)": {"index records_at on records is not as the worker makes it"},
		"CREATE UNIQUE INDEX mine ON records (kind, seq)":                     {"index mine on records was added"},
		"CREATE TABLE mine (x)": {"table mine was added"},
		"ALTER TABLE unanswered RENAME TO hidden; CREATE VIEW unanswered AS SELECT * FROM hidden": {
			"table unanswered is missing", "index unanswered_again on hidden was added", "table hidden was added", "view unanswered was added",
		},
		"ALTER TABLE outbox ADD note TEXT":    {"table outbox is not as the worker makes it"},
		"CREATE INDEX mine ON records (kind)": nil, // a note
	} {
		s, f, _ := newStore(t)
		audittest.Append(t, s, audittest.Records(0, 10)...)
		check.Must(t, f.exec(t, change))
		found, err := s.Inspect(t.Context())
		check.Must(t, err)
		for _, finding := range want {
			if !slices.Contains(found.Findings, finding) {
				t.Errorf("%s: %q, want %q among them", change, found.Findings, finding)
			}
		}
		if noted := slices.Equal(found.Notes, []string{"index mine on records was added"}); want == nil && (found.Findings != nil || noted == (change == "")) {
			t.Errorf("%q: %+v", change, found)
		}
	}
}
