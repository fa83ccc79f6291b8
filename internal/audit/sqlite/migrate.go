package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"hospital.example/analyze-retry/internal/audit"
)

//go:embed migrations/*.sql
var embedded embed.FS

// schemaVersion is the newest that this worker knows: the number of the last file in migrations.
const schemaVersion = 6

// migrate brings the schema to this worker's version, each step in a transaction. The journal's mode is set here once:
// it stays with the file.
func migrate(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", source(path, "rw", "page_size(8192)", "journal_mode(WAL)", "synchronous(FULL)"))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system does not allow SQLite's write-ahead log (journal mode %q): use a local disk", mode)
	}
	provider, err := migrations(db)
	if err != nil {
		return err
	}
	has, knows, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if has > knows {
		return audit.NewerSchema(has, knows)
	}
	if _, err = provider.Up(ctx); err != nil {
		return err
	}
	// A process that was killed, or whose sync failed, may have left records in the log that are not on the disk. They
	// count as stored from here on, so they go to the disk now.
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// migrations returns what migrates a database.
func migrations(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true))
}

var errOlderSchema = errors.New("its schema is older than this worker's: start the worker once to migrate it")

// checkVersion reports whether the store has this worker's schema, changing nothing.
func checkVersion(ctx context.Context, db *sql.DB) error {
	var has int64
	err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&has)
	switch {
	case err != nil:
		return fmt.Errorf("not an audit store, or one that is not complete: %w", err)
	case has > schemaVersion:
		return audit.NewerSchema(has, schemaVersion)
	case has < schemaVersion:
		return errOlderSchema
	}
	return nil
}
