package postgres_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

var update = flag.Bool("update", false, "rewrite schema.json from schema.sql")

func TestTheExpectedSchemaIsThatOfANewStore(t *testing.T) {
	d := newDatabase(t)
	made, err := json.MarshalIndent(postgres.Definitions(t, open(t, d.app, audittest.Secret(t))), "", "  ")
	check.Must(t, err)
	made = append(made, '\n')
	if *update {
		check.Must(t, os.WriteFile("schema.json", made, 0o600))
	}
	if kept, err := os.ReadFile("schema.json"); err != nil || !bytes.Equal(kept, made) {
		t.Errorf("schema.json is not what a new store has (%v); run: go test ./internal/audit/postgres -run ExpectedSchema -update", err)
	}
}

// inspected is what a role that may only read finds.
func (d database) inspected(t *testing.T, url string) audit.Inspection {
	t.Helper()
	s, err := postgres.OpenReadOnly(t.Context(), url, "")
	check.Must(t, err)
	defer s.Close()
	found, err := s.Inspect(t.Context())
	check.Must(t, err)
	return found
}

func (d database) findings(t *testing.T) []string {
	t.Helper()
	return d.inspected(t, d.app).Findings
}

func TestANewStoreHasNoFindings(t *testing.T) {
	d := newDatabase(t)
	audittest.Append(t, open(t, d.app, audittest.Secret(t)), audittest.Records(1, 10)...)
	for _, url := range []string{d.app, d.owner, d.super} {
		if found := d.inspected(t, url); found.Findings != nil || found.LastID == 0 {
			t.Errorf("%+v", found)
		}
	}
}

func TestChangesOfTheSchemaAreFindings(t *testing.T) {
	d := newDatabase(t)
	audittest.Append(t, open(t, d.app, audittest.Secret(t)), audittest.Record(1))
	for change, want := range map[string]struct{ finding, back string }{
		"DROP TRIGGER append_only ON records": {
			"trigger append_only on records is missing",
			"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON records FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
		},
		"ALTER TABLE tombstones DISABLE TRIGGER append_only":                                         {"trigger append_only on tombstones is not as the worker makes it", "ALTER TABLE tombstones ENABLE TRIGGER append_only"},
		"CREATE TRIGGER mine BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION refuse_change()": {"trigger mine on records was added", "DROP TRIGGER mine ON records"},
		"DROP INDEX records_at": {"index records_at on records is missing", "CREATE INDEX records_at ON records (at, id)"},
		"UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'records_at'::regclass":                                     {"index records_at on records is not as", "UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'records_at'::regclass"},
		"ALTER TABLE retention ADD CONSTRAINT short CHECK (least < '6 years')":                                                 {"constraint short on retention was added", "ALTER TABLE retention DROP CONSTRAINT short"},
		"ALTER TABLE retention DROP CONSTRAINT retention_one_check":                                                            {"constraint retention_one_check on retention is missing", "ALTER TABLE retention ADD CHECK (one)"},
		"ALTER FUNCTION refuse_change RENAME TO refused":                                                                       {"function refuse_change() is missing", "ALTER FUNCTION refused RENAME TO refuse_change"},
		"ALTER FUNCTION purge_records SECURITY INVOKER":                                                                        {"is not as the worker makes it", "ALTER FUNCTION purge_records SECURITY DEFINER"},
		"CREATE RULE keep AS ON DELETE TO heads DO INSTEAD NOTHING":                                                            {"rule keep on heads was added", "DROP RULE keep ON heads"},
		"ALTER TABLE records RENAME TO hidden; CREATE VIEW records AS SELECT * FROM hidden; GRANT SELECT ON records TO PUBLIC": {"view records was added", "DROP VIEW records; ALTER TABLE hidden RENAME TO records"},
		"ALTER TABLE heads SET UNLOGGED":                                                                                       {"table heads is not as", "ALTER TABLE heads SET LOGGED"},
		"ALTER TABLE outbox ADD note text":                                                                                     {"column outbox.note was added", "ALTER TABLE outbox DROP note"},
		"GRANT DELETE ON records TO analyze_retry_app":                                                                         {"analyze_retry_app to DELETE on records is a right", "REVOKE DELETE ON records FROM analyze_retry_app"},
		"GRANT UPDATE (claim_id) ON records TO PUBLIC":                                                                         {"PUBLIC to UPDATE on records.claim_id is a right", "REVOKE UPDATE (claim_id) ON records FROM PUBLIC"},
		"GRANT UPDATE ON retention TO analyze_retry_app":                                                                       {"analyze_retry_app to UPDATE on retention is a right", "REVOKE UPDATE ON retention FROM analyze_retry_app"},
		"GRANT UPDATE ON SEQUENCE record_ids TO analyze_retry_app":                                                             {"analyze_retry_app to UPDATE on record_ids is a right", "REVOKE UPDATE ON SEQUENCE record_ids FROM analyze_retry_app"},
		"GRANT EXECUTE ON FUNCTION purge_records TO PUBLIC":                                                                    {"PUBLIC to EXECUTE on purge_records is a right", "REVOKE EXECUTE ON FUNCTION purge_records FROM PUBLIC"},
		"GRANT CREATE ON SCHEMA analyze_retry TO analyze_retry_app":                                                            {"analyze_retry_app to CREATE on the schema is a right", "REVOKE CREATE ON SCHEMA analyze_retry FROM analyze_retry_app"},
		"SELECT setval('record_ids', 1, false)":                                                                                {"sequence record_ids was set back", "SELECT setval('record_ids', 100)"},
		"SELECT setval('chains', 1, false)":                                                                                    {"sequence chains was set back", "SELECT setval('chains', 1)"},
	} {
		t.Run(change, func(t *testing.T) {
			mustSQL(t, d.super, "SET search_path = analyze_retry", change)
			found := d.findings(t)
			if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, want.finding) }) {
				t.Errorf("%q, want one with %q", found, want.finding)
			}
			mustSQL(t, d.super, "SET search_path = analyze_retry", want.back)
			if found := d.findings(t); found != nil {
				t.Errorf("all is put back: %q", found)
			}
		})
	}
}

// All databases of the server share the roles, and no other test runs meanwhile.
func TestAnApplicationRoleThatMayDoMoreIsAFinding(t *testing.T) {
	d := newDatabase(t)
	for change, want := range map[string]struct{ finding, back string }{
		"GRANT analyze_retry_owner TO analyze_retry_app": {"analyze_retry_app to act as the owner of the tables, analyze_retry_owner", "REVOKE analyze_retry_owner FROM analyze_retry_app"},
		"GRANT pg_write_all_data TO analyze_retry_app":   {"analyze_retry_app to act as pg_write_all_data", "REVOKE pg_write_all_data FROM analyze_retry_app"},
		"ALTER ROLE analyze_retry_app BYPASSRLS":         {"analyze_retry_app to go past row-level security", "ALTER ROLE analyze_retry_app NOBYPASSRLS"},
		"ALTER ROLE analyze_retry_app SUPERUSER":         {"analyze_retry_app to do everything", "ALTER ROLE analyze_retry_app NOSUPERUSER"},
	} {
		mustSQL(t, d.super, change)
		if found := d.findings(t); len(found) != 1 || !strings.Contains(found[0], want.finding) {
			t.Errorf("%s: %q, want %q", change, found, want.finding)
		}
		mustSQL(t, d.super, want.back)
	}
	if found := d.findings(t); found != nil {
		t.Errorf("all is put back: %q", found)
	}
}

func TestATableOwnedByTheAskingRoleIsANote(t *testing.T) {
	s := open(t, devpostgres.Database(t), audittest.Secret(t))
	found, err := s.Inspect(t.Context())
	if err != nil || found.Findings != nil || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "owns the tables") {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestWhatIsNoFindingIsANote(t *testing.T) {
	for change, want := range map[string]string{
		"UPDATE analyze_retry.schema_version SET version = 99":                                 "the schema has version 99, which only a newer worker can judge",
		"REVOKE USAGE, SELECT ON ALL SEQUENCES IN SCHEMA analyze_retry FROM analyze_retry_app": "this role may not read the sequences",
		"SELECT setval('analyze_retry.record_ids', 100)":                                       "record IDs through 100 were given out, the last record has ID ",
	} {
		d := newDatabase(t)
		s := open(t, d.app, audittest.Secret(t))
		audittest.Append(t, s, audittest.Records(1, 10)...)
		mustSQL(t, d.super, change)
		found, err := s.Inspect(t.Context())
		if err != nil || found.Findings != nil || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], want) {
			t.Errorf("%s: %+v, %v", change, found, err)
		}
	}
}

func TestRowLevelSecurityHidesNothingWithoutAWord(t *testing.T) {
	d, key := newDatabase(t), audittest.Secret(t)
	s := open(t, d.app, key)
	audittest.Append(t, s, audittest.Records(1, 10)...)
	mustSQL(t, d.owner, "SET search_path = analyze_retry", "ALTER TABLE records ENABLE ROW LEVEL SECURITY",
		"CREATE POLICY hide ON records USING (claim_id <> 'CLM-2015-00000003')")
	reader, err := postgres.OpenReadOnly(t.Context(), d.app, "")
	check.Must(t, err)
	defer reader.Close()
	for _, s := range []audit.Store{s, reader} {
		if all, err := s.Claim(t.Context(), "CLM-2015-00000003"); err == nil || !strings.Contains(err.Error(), "row-level security would hide records") {
			t.Errorf("%d records, %v", len(all), err)
		}
	}
	v, err := audit.Verify(t.Context(), reader, key.Public(), nil, nil)
	if err == nil || len(v.Inspection.Findings) != 2 || !strings.Contains(v.Inspection.Findings[1], "row-level security is switched on for records") {
		t.Errorf("%q, %v", v.Inspection.Findings, err)
	}
	// As the owner, who sees everything.
	if found := d.inspected(t, d.owner).Findings; len(found) != 2 {
		t.Errorf("as the owner: %q", found)
	}
}
