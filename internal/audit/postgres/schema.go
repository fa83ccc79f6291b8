package postgres

import (
	"context"
	_ "embed" // schema.sql and grants.sql
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
)

// schemaVersion is the version of the tables that schema.sql makes.
const schemaVersion = 6

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
	version, err := versionOf(ctx, database{tx})
	if err == nil && version == 0 {
		version = schemaVersion
		_, err = tx.Exec(ctx, tables)
	}
	if err == nil {
		err = checkVersion(version)
	}
	if err == nil {
		_, err = tx.Exec(ctx, grants)
	}
	return err
}

// versionOf returns the version of the store's tables, 0 where there are none, or they are hidden from this
// role.
func versionOf(ctx context.Context, from reading.Database) (version int64, err error) {
	var exists bool
	err = from.Read(ctx, reading.One(&exists), "SELECT to_regclass('schema_version') IS NOT NULL")
	if err == nil && exists {
		err = from.Read(ctx, reading.One(&version), "SELECT version FROM schema_version")
	}
	return version, err
}

// checkVersion refuses tables that are not those of this worker.
func checkVersion(has int64) error {
	switch {
	case has == 0:
		return errors.New("its tables are missing, or not open to this role: " +
			"run `worker audit migrate` as the owner (deploy/postgres)")
	case has != schemaVersion:
		return audit.WrongSchema(has, schemaVersion)
	}
	return nil
}
