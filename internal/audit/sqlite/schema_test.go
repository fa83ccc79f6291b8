package sqlite

import (
	"reflect"
	"slices"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// secondSchema takes a store back to the second version of the schema, in which no index is of the outcomes of a claim and
// the tables have other names, and firstSchema to the first one, in which nothing stands twice.
const (
	secondSchema = `DROP TABLE open_claims; DROP TRIGGER records_are_removed_behind_a_tombstone_only;
	DROP TRIGGER tombstones_are_never_changed; DROP TRIGGER tombstones_are_never_removed; DROP INDEX crashes_again;
	ALTER TABLE tombstones RENAME TO stubs; ALTER TABLE crashes RENAME TO deaths;
	CREATE TRIGGER records_are_removed_behind_a_stub_only BEFORE DELETE ON records BEGIN SELECT 1; END;
	CREATE TRIGGER stubs_are_never_changed BEFORE UPDATE ON stubs BEGIN SELECT 1; END;
	CREATE TRIGGER stubs_are_never_removed BEFORE DELETE ON stubs BEGIN SELECT 1; END;
	CREATE INDEX deaths_again ON deaths (cluster, job_key, count, at);
	DROP INDEX records_claim_outcome;
	CREATE INDEX records_outcome ON records (at, kind, retry_count) WHERE kind >= 16;
	DELETE FROM meta WHERE name = 'retention';
	DELETE FROM goose_db_version WHERE version_id > 2;`
	firstSchema = secondSchema + `
	DROP INDEX outbox_again; DROP INDEX unanswered_again; DROP INDEX deaths_again;
	ALTER TABLE heads DROP COLUMN published_again; ALTER TABLE heads DROP COLUMN answered_again;
	DELETE FROM goose_db_version WHERE version_id > 1`
)

func TestAStoreOfTheFirstVersionKeepsRecordsAndMarks(t *testing.T) {
	s, at, secret := newStore(t)
	results, err := s.Append(t.Context(), audittest.Records(0, 5), nil)
	check.Must(t, err)
	var ids []int64
	for i := range results {
		ids = append(ids, results[i].Record.ID)
	}
	check.Must(t, s.Published(t.Context(), ids[:3]))
	_, err = s.Append(t.Context(), audittest.Records(5, 6), ids[:4])
	check.Must(t, err)
	check.Must(t, s.Begin(t.Context(), "production", []int64{audittest.FirstJobKey + 1}), s.Close())
	check.Must(t, at.exec(t, firstSchema))

	s = openFile(t, at.path, secret)
	check.Must(t, s.Check(t.Context()))
	audittest.Verify(t, s, secret, 6)
	unanswered, err := s.Unanswered(t.Context(), ids)
	check.Must(t, err)
	unpublished, err := s.Unpublished(t.Context(), 0, 10)
	check.Must(t, err)
	if len(unanswered) != 1 || unanswered[0] != ids[4] || len(unpublished) != 3 || unpublished[0].ID != ids[3] {
		t.Errorf("unanswered %v, %d unpublished; want %d, and those from %d on", unanswered, len(unpublished), ids[4], ids[3])
	}
}

func TestAnOlderStoreKnowsItsOpenClaims(t *testing.T) {
	s, at, secret := newStore(t)
	open := func() (all []audit.OpenClaim) {
		t.Helper()
		check.Must(t, s.OpenClaims(t.Context(), func(c *audit.OpenClaim) error { all = append(all, *c); return nil }))
		return all
	}
	audittest.Append(t, s, audittest.Ends(100)...)
	want := open()
	check.Must(t, s.Close(), at.exec(t, secondSchema))
	s = openFile(t, at.path, secret)
	if got := open(); len(want) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d open claims after the migration, want the %d of before", len(got), len(want))
	}
}

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

func TestAnOlderStoreWithRecordsKeepsFiveYears(t *testing.T) {
	for records, want := range []int{0, 60} {
		s, at, secret := newStore(t)
		_, err := s.Append(t.Context(), audittest.Records(0, records), nil)
		check.Must(t, err, s.Close())
		check.Must(t, at.exec(t, secondSchema))
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
