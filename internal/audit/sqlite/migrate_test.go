package sqlite

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/audittest"
)

// secondSchema takes a store back to the second version of the schema, in which no index is of the outcomes of a claim and
// the tables have other names, and firstSchema to the first one, in which nothing stands twice.
const (
	secondSchema = `DROP TRIGGER records_are_removed_behind_a_tombstone_only;
	DROP TRIGGER tombstones_are_never_changed; DROP TRIGGER tombstones_are_never_removed; DROP INDEX crashes_again;
	ALTER TABLE tombstones RENAME TO stubs; ALTER TABLE crashes RENAME TO deaths;
	CREATE TRIGGER records_are_removed_behind_a_stub_only BEFORE DELETE ON records BEGIN SELECT 1; END;
	CREATE TRIGGER stubs_are_never_changed BEFORE UPDATE ON stubs BEGIN SELECT 1; END;
	CREATE TRIGGER stubs_are_never_removed BEFORE DELETE ON stubs BEGIN SELECT 1; END;
	CREATE INDEX deaths_again ON deaths (cluster, job_key, count, at);
	DROP INDEX records_claim_outcome; DROP INDEX records_outcome;
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
	must(t, err)
	var ids []int64
	for i := range results {
		ids = append(ids, results[i].Record.ID)
	}
	must(t, s.Published(t.Context(), ids[:3]))
	_, err = s.Append(t.Context(), audittest.Records(5, 6), ids[:4])
	must(t, err)
	must(t, s.Begin(t.Context(), "production", []int64{audittest.FirstJobKey + 1}), s.Close())
	must(t, at.exec(t, firstSchema))

	s = openFile(t, at.path, secret)
	must(t, s.Check(t.Context()))
	unanswered, err := s.Unanswered(t.Context(), ids)
	must(t, err)
	unpublished, err := s.Unpublished(t.Context(), 0, 10)
	must(t, err)
	if len(unanswered) != 1 || unanswered[0] != ids[4] || len(unpublished) != 3 || unpublished[0].ID != ids[3] {
		t.Errorf("unanswered %v, %d unpublished; want %d, and those from %d on", unanswered, len(unpublished), ids[4], ids[3])
	}
}
