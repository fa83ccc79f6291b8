package postgres

import (
	"context"
	_ "embed" // schema.sql and grants.sql
	"fmt"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
)

// schemaVersion is the version of the tables that schema.sql makes.
const schemaVersion = 9

var (
	// tables makes the tables of a store, grants gives the application role its rights.
	//
	//go:embed schema.sql
	tables string
	//go:embed grants.sql
	grants string
)

// makeSchema is done by one worker at a time. It asks first, because IF NOT EXISTS wants the right to create
// anyway. The connection is new, so that no temporary table can stand in for one of ours.
const makeSchema = `DO $$ BEGIN
	PERFORM pg_advisory_xact_lock(4097083627);
	IF to_regnamespace('analyze_retry') IS NULL THEN CREATE SCHEMA analyze_retry; END IF;
	SET LOCAL search_path = analyze_retry;
END $$`

// Migrate makes the tables of a store where there are none, and gives the role analyze_retry_app its rights
// where there is one. It is for the role that owns them, and may be run at any time and any number of times:
// of several workers that start together one makes the tables while the others wait.
func Migrate(ctx context.Context, url string) error {
	config, err := parseURL(url)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err == nil {
		defer closeConn(conn)
		err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return makeTables(ctx, tx) })
	}
	if err != nil {
		return fmt.Errorf("migrate the audit store: %w", err)
	}
	return nil
}

func makeTables(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, makeSchema); err != nil {
		return err
	}
	there, err := hasTables(ctx, database{tx})
	if err == nil && !there {
		_, err = tx.Exec(ctx, tables)
	}
	if err == nil {
		_, err = tx.Exec(ctx, grants)
	}
	return err
}

// hasTables reports whether there are tables that are not hidden from this role, and refuses those of another
// version.
func hasTables(ctx context.Context, from reading.Database) (there bool, err error) {
	err = from.Read(ctx, reading.One(&there), "SELECT to_regclass('schema_version') IS NOT NULL")
	if err != nil || !there {
		return false, err
	}
	var version int64
	err = from.Read(ctx, reading.One(&version), "SELECT version FROM schema_version")
	if err == nil && version != schemaVersion {
		err = audit.WrongSchema(version, schemaVersion)
	}
	return true, err
}
