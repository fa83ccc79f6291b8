package sqlite

import (
	"slices"
	"testing"

	"hospital.example/analyze-retry/internal/testing/audittest"
)

func TestChangesOfTheSchemaAreFindings(t *testing.T) {
	for change, want := range map[string][]string{
		"":                                       nil,
		"DROP TRIGGER records_are_never_changed": {"trigger records_are_never_changed on records is missing"},
		"DROP TRIGGER tombstones_are_never_removed; CREATE TRIGGER tombstones_are_never_removed BEFORE DELETE ON tombstones BEGIN SELECT 1; END": {
			"trigger tombstones_are_never_removed on tombstones is not as the worker's migrations make it",
		},
		"CREATE TRIGGER quiet BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END": {"trigger quiet on records was added"},
		"DROP INDEX records_at": {"index records_at on records is missing"},
		"DROP INDEX records_at; CREATE INDEX records_at ON records (at DESC)": {"index records_at on records is not as the worker's migrations make it"},
		"CREATE UNIQUE INDEX mine ON records (kind, seq)":                     {"index mine on records was added"},
		"CREATE TABLE mine (x)": {"table mine was added"},
		"ALTER TABLE crashes RENAME TO hidden; CREATE VIEW crashes AS SELECT * FROM hidden": {
			"table crashes is missing", "index crashes_again on hidden was added", "table hidden was added", "view crashes was added",
		},
		"ALTER TABLE outbox ADD note TEXT":    {"table outbox is not as the worker's migrations make it"},
		"CREATE INDEX mine ON records (kind)": nil, // a note
	} {
		s, f, _ := newStore(t)
		audittest.Append(t, s, audittest.Records(0, 10)...)
		must(t, f.exec(t, change))
		found, err := s.Inspect(t.Context())
		must(t, err)
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
