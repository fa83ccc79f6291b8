package sqlite

import (
	"context"
	"database/sql"
	_ "embed" // schema.sql
	"fmt"
)

// tables makes the tables of a store.
//
//go:embed schema.sql
var tables string

// schemaVersion is their version.
const schemaVersion = 8

// makeTables makes the tables of a new store in one transaction. The journal's mode is set here once: it
// stays with the file.
func makeTables(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", source(path, "rw", "journal_mode(WAL)", "synchronous(FULL)"))
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
		return fmt.Errorf("the file system does not allow SQLite's write-ahead log "+
			"(journal mode %q): use a local disk", mode)
	}
	var defined int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&defined); err != nil {
		return err
	}
	if defined == 0 {
		if _, err := db.ExecContext(ctx, "BEGIN;"+tables+"COMMIT"); err != nil {
			return err
		}
	}
	// A process that was killed, or whose sync failed, may have left records in the log that are not on the
	// disk. They count as stored from here on, so they go to the disk now.
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}
