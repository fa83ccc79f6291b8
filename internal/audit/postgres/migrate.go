package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"hospital.example/analyze-retry/internal/audit"
)

// schemaVersion is the newest of the migrations.
const schemaVersion = 5

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed grants.sql
var grants string

// makeSchema is done by one worker at a time. It asks first, because IF NOT EXISTS wants the right to create anyway.
const makeSchema = `DO $$ BEGIN
	PERFORM pg_advisory_xact_lock(4097083627);
	IF to_regnamespace('analyze_retry') IS NULL THEN CREATE SCHEMA analyze_retry; END IF;
END $$`

// Migrate brings the tables of a store up to date, and gives the role analyze_retry_app its rights where there is one.
// It is for the role that owns them, and may be run at any time and any number of times: each migration is a
// transaction, and of several workers that start together one migrates while the others wait.
func Migrate(ctx context.Context, url string) error {
	config, err := parseURL(url)
	if err != nil {
		return err
	}
	conn := config.ConnConfig
	conn.RuntimeParams["application_name"] = "analyze-retry migrate"
	if err := migrate(ctx, conn); err != nil {
		return fmt.Errorf("migrate the audit store: %w", err)
	}
	return nil
}

func migrate(ctx context.Context, config *pgx.ConnConfig) (err error) {
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		if err := ownSession(ctx, conn); err != nil {
			return err
		}
		// pg_temp last, or a temporary table could stand in for one of ours. A pooler takes no such setting with the connection.
		_, err := conn.Exec(ctx, "SET search_path = analyze_retry, pg_temp")
		return err
	}))
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, makeSchema); err != nil {
		return err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	// Every second, for a minute.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	version, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	if version > schemaVersion {
		return audit.NewerSchema(version, schemaVersion)
	}
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, grants)
	return err
}

// schema returns the version of the store's tables, 0 where there are none, and whether this role may make them.
func schema(ctx context.Context, pool *pgxpool.Pool) (version int64, mayCreate bool, err error) {
	var exists, mayUse bool
	err = pool.QueryRow(ctx, `SELECT n IS NOT NULL,
		n IS NULL OR has_schema_privilege(n, 'USAGE'),
		CASE WHEN n IS NULL THEN has_database_privilege(current_database(), 'CREATE') ELSE has_schema_privilege(n, 'CREATE') END
		FROM (SELECT to_regnamespace('analyze_retry')::oid AS n) AS s`).Scan(&exists, &mayUse, &mayCreate)
	if err != nil || !exists || !mayUse {
		return 0, mayCreate, err
	}
	if err = pool.QueryRow(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return 0, mayCreate, err
	}
	err = pool.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&version)
	if sqlstate(err) == noPrivilege {
		return 0, mayCreate, nil // the rights are given at the end of migrating
	}
	return version, mayCreate, err
}

// checkVersion refuses tables that are not those of this worker.
func checkVersion(has int64) error {
	switch {
	case has > schemaVersion:
		return audit.NewerSchema(has, schemaVersion)
	case has < schemaVersion:
		return fmt.Errorf("its tables are missing, older than this worker (version %d of %d) or not open to this role: run `worker migrate` as the owner (deploy/postgres)", has, schemaVersion)
	}
	return nil
}
