package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestTheOwnerCannotChangeARecordByMistake(t *testing.T) {
	d := newDatabase(t)
	audittest.Append(t, open(t, d.app, audittest.Secret(t)), audittest.Record(1))
	for _, statement := range []string{
		"UPDATE analyze_retry.records SET claim_id = 'x'",
		"DELETE FROM analyze_retry.records",
		"TRUNCATE analyze_retry.records",
	} {
		if err := sql(t, d.owner, statement); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestAWorkerWithoutTablesSaysWhoMakesThem(t *testing.T) {
	d := newRoles(t)
	for name, openIt := range map[string]func() error{
		"for writing": func() error {
			_, err := postgres.Open(t.Context(), d.app, audittest.Secret(t))
			return err
		},
		"for reading": func() error {
			_, err := postgres.OpenReadOnly(t.Context(), d.app, nil)
			return err
		},
	} {
		if err := openIt(); err == nil || !strings.Contains(err.Error(), "run `worker audit migrate` as the owner") {
			t.Errorf("%s: %v", name, err)
		}
	}
	check.Must(t, postgres.Migrate(t.Context(), d.owner))
	audittest.Append(t, open(t, d.app, audittest.Secret(t)), audittest.Record(1))
}

func TestMigrateGrantsRightsToALaterRole(t *testing.T) {
	d := newDatabase(t)
	mustSQL(t, d.super, "REVOKE ALL ON ALL TABLES IN SCHEMA analyze_retry FROM analyze_retry_app", "REVOKE ALL ON SCHEMA analyze_retry FROM analyze_retry_app")
	if _, err := postgres.Open(t.Context(), d.app, audittest.Secret(t)); err == nil || !strings.Contains(err.Error(), "worker audit migrate") {
		t.Errorf("opened without rights: %v", err)
	}
	check.Must(t, postgres.Migrate(t.Context(), d.owner))
	audittest.Append(t, open(t, d.app, audittest.Secret(t)), audittest.Record(1))
}

func TestOnlyTheOwnerRemovesRecords(t *testing.T) {
	d, key := newDatabase(t), audittest.Secret(t)
	app := open(t, d.app, key)
	audittest.Append(t, app, audittest.Ended(0, 10)...)
	before := audittest.Record(5).At
	would, err := app.Purge(t.Context(), before, true)
	check.Must(t, err)
	none, err := app.Purge(t.Context(), before, false)
	check.Fails(t, err, "only the owner of the tables", "RETRY_DATABASE_URL")
	check.Same(t, 0, len(none), "what the application role has removed")
	audittest.Verify(t, app, key, 10)
	purged, err := open(t, d.owner, key).Purge(t.Context(), before, false)
	check.Must(t, err)
	check.Same(t, would, purged, "what the owner has removed")
	audittest.Append(t, app, audittest.Records(10, 12)...)
	audittest.Verify(t, app, key, 7)
}

// The guard is the lock: without it one may put back the cut of the other.
func TestTwoPurgesThatMeetLeaveAWholeTrail(t *testing.T) {
	d, key := newDatabase(t), audittest.Secret(t)
	owners := []audit.Store{open(t, d.owner, key), open(t, d.owner, key)}
	const rounds, each = 20, 10
	for n := 0; n < rounds*each; n += each {
		audittest.Append(t, owners[0], audittest.Ended(n, n+each)...)
		var both sync.WaitGroup
		for i, owner := range owners {
			both.Go(func() {
				_, err := owner.Purge(t.Context(), audittest.Record(n+4+2*i).At, false)
				if err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if _, err := audit.Verify(t.Context(), owners[0], key.Public(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// The guard is what grants.sql leaves out: with UPDATE, DELETE and TRUNCATE granted it is
// only the trigger that refuses, and with the tables owned by the role the rest goes through.
func TestTheApplicationRoleCannotChangeARecord(t *testing.T) {
	d := newDatabase(t)
	audittest.Append(t, open(t, d.app, audittest.Secret(t)), audittest.Record(1))
	for _, statement := range []string{
		"UPDATE analyze_retry.records SET claim_id = 'x'",
		"UPDATE analyze_retry.records SET claim_id = 'x' WHERE false",
		"INSERT INTO analyze_retry.records SELECT * FROM analyze_retry.records ON CONFLICT (id) DO UPDATE SET claim_id = 'x'",
		"DELETE FROM analyze_retry.records",
		"TRUNCATE analyze_retry.records",
		"DROP TABLE analyze_retry.records",
		"SELECT setval('analyze_retry.record_ids', 1)",
		"ALTER TABLE analyze_retry.records ADD x int",
		"ALTER TABLE analyze_retry.records DISABLE TRIGGER ALL",
		"ALTER TABLE analyze_retry.records OWNER TO analyze_retry_app",
		"DROP TRIGGER append_only ON analyze_retry.records",
		"DROP FUNCTION analyze_retry.refuse_change",
		"CREATE OR REPLACE FUNCTION analyze_retry.refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
		"CREATE RULE r AS ON INSERT TO analyze_retry.records DO INSTEAD NOTHING",
		"SET session_replication_role = replica",
		"SET ROLE analyze_retry_owner",
		"CREATE TABLE analyze_retry.mine (x int)",
		"CREATE TABLE public.mine (x int)",
		"DELETE FROM analyze_retry.heads",
		"INSERT INTO analyze_retry.heads SELECT 5, 0, '', now(), ''",
		"UPDATE analyze_retry.meta SET value = 'x'",
		"INSERT INTO analyze_retry.cuts SELECT 1, 1, '', now(), ''",
		"UPDATE analyze_retry.cuts SET seq = 2",
		"DELETE FROM analyze_retry.cuts",
		"UPDATE analyze_retry.schema_version SET version = 0",
	} {
		err := sql(t, d.app, statement)
		if refusal, ok := errors.AsType[*pgconn.PgError](err); !ok || refusal.Code != "42501" || strings.Contains(refusal.Message, "append-only") {
			t.Errorf("%s: %v, want it refused for lack of privilege", statement, err)
		}
	}
}
