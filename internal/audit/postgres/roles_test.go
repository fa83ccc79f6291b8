package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// Row 28 of the test matrix. Its guard is what grants.sql leaves out: with UPDATE, DELETE and TRUNCATE granted it is
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
		"UPDATE analyze_retry.meta SET value = 'x'",
		"INSERT INTO analyze_retry.tombstones SELECT 1, 1, 1, '', now(), now(), now(), ''",
		"UPDATE analyze_retry.tombstones SET through = 2",
		"DELETE FROM analyze_retry.tombstones",
		"UPDATE analyze_retry.retention SET least = '0'",
		"DELETE FROM analyze_retry.retention",
		"UPDATE analyze_retry.schema_version SET version = 0",
	} {
		err := sql(t, d.app, statement)
		if refusal, ok := errors.AsType[*pgconn.PgError](err); !ok || refusal.Code != "42501" || strings.Contains(refusal.Message, "append-only") {
			t.Errorf("%s: %v, want it refused for lack of privilege", statement, err)
		}
	}
}

func TestTheOwnerCannotChangeARecordByMistake(t *testing.T) {
	d := newDatabase(t)
	audittest.Append(t, open(t, d.app, audittest.Secret(t)), audittest.Record(1))
	for _, statement := range []string{
		"UPDATE analyze_retry.records SET claim_id = 'x'",
		"DELETE FROM analyze_retry.records",
		"TRUNCATE analyze_retry.records",
		"TRUNCATE analyze_retry.tombstones",
	} {
		if err := sql(t, d.owner, statement); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestAWorkerWithoutTablesSaysWhoMakesThem(t *testing.T) {
	d := newRoles(t, devpostgres.Shared(t), devpostgres.Database(t))
	for name, openIt := range map[string]func() error{
		"for writing": func() error {
			_, err := postgres.Open(t.Context(), d.app, audittest.Secret(t), postgres.Options{})
			return err
		},
		"for reading": func() error {
			_, err := postgres.OpenReadOnly(t.Context(), d.app, "")
			return err
		},
	} {
		if err := openIt(); err == nil || !strings.Contains(err.Error(), "run `worker migrate` as the owner") {
			t.Errorf("%s: %v", name, err)
		}
	}
	check.Must(t, postgres.Migrate(t.Context(), d.owner))
	audittest.Append(t, open(t, d.app, audittest.Secret(t)), audittest.Record(1))
}

func TestMigrateGrantsRightsToALaterRole(t *testing.T) {
	d := newDatabase(t)
	mustSQL(t, d.super, "REVOKE ALL ON ALL TABLES IN SCHEMA analyze_retry FROM analyze_retry_app", "REVOKE ALL ON SCHEMA analyze_retry FROM analyze_retry_app")
	if _, err := postgres.Open(t.Context(), d.app, audittest.Secret(t), postgres.Options{}); err == nil || !strings.Contains(err.Error(), "worker migrate") {
		t.Errorf("opened without rights: %v", err)
	}
	check.Must(t, postgres.Migrate(t.Context(), d.owner))
	audittest.Append(t, open(t, d.app, audittest.Secret(t)), audittest.Record(1))
}

func TestOnlyTheOwnerLowersTheFloor(t *testing.T) {
	d, key := newDatabase(t), audittest.Secret(t)
	app, owner := open(t, d.app, key), open(t, d.owner, key)
	if floor, err := app.Keep(t.Context(), 72); err != nil || floor != 72 {
		t.Fatal(floor, err)
	}
	err := app.Shorten(t.Context(), 18)
	if err == nil || !strings.Contains(err.Error(), "UPDATE analyze_retry.retention SET least = '18 months'") {
		t.Errorf("%v, want what the owner runs", err)
	}
	for _, step := range []struct{ to, floor int }{{18, 18}, {24, 18}, {1, 1}} { // never raised
		check.Must(t, owner.Shorten(t.Context(), step.to))
		if floor, err := app.Floor(t.Context()); err != nil || floor != step.floor {
			t.Errorf("lowered to %d months: the floor is %d, %v; want %d", step.to, floor, err, step.floor)
		}
	}
	for _, months := range []int{0, -60, 601} {
		if _, err := app.Keep(t.Context(), months); err == nil {
			t.Errorf("a floor of %d months was taken", months)
		}
	}
	for least, months := range map[string]int{"6 years": 72, "1825 days": 66, "30 months 1 day": 31, "00:00:01": 1} {
		mustSQL(t, d.owner, "UPDATE analyze_retry.retention SET least = '"+least+"'")
		if floor, err := app.Floor(t.Context()); err != nil || floor != months {
			t.Errorf("an owner's %s are %d months, %v; want %d", least, floor, err, months)
		}
	}
}
