package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
	"hospital.example/analyze-retry/internal/text"
)

// dialect is how the tables are read. A record's place in the only chain is its ID.
var dialect = reading.Dialect{
	Chains: 1,
	RowKey: "id",
	// One text, because SQLite sorts what it groups, and one column is sorted in half the time of seven.
	Alike: "kind || '|' || policy || '|' || class || '|' || rule || '|' || code || '|' || " +
		"course || '|' || ((seconds + 59) / 60)",
	Backlog: `SELECT (SELECT max(id) FROM records) - published, at
		FROM outbox JOIN records ON id > published
		WHERE EXISTS (SELECT 1 FROM meta WHERE name = 'queue') ORDER BY id LIMIT 1`,
	// The last record before the first that is too young. The plus keeps SQLite from the index on at: what is
	// passed on the way is what will be removed.
	Expired: `SELECT chain, seq, hash, seq - (SELECT min(id) FROM records) + 1 FROM records
		WHERE id < coalesce((SELECT id FROM records WHERE +at >= $1 ORDER BY id LIMIT 1),
			(SELECT max(id) + 1 FROM records)) ORDER BY id DESC LIMIT 1`,
}

// database is what is asked over database/sql.
type database struct {
	asked interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (d database) Read(ctx context.Context, row reading.Row, query string, args ...any) error {
	rows, err := d.asked.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(row.Into...); err != nil {
			return fmt.Errorf("%w: %w", errForm, err)
		}
		if err := row.Each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// errForm says that a row is not of the form that is written.
var errForm = errors.New("a row cannot be read")

// snapshot calls read with the store as it is at one moment.
func (s *store) snapshot(ctx context.Context, read func(reading.Database) error) error {
	tx, err := s.read.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was changed
	return read(database{tx})
}

// row finds the row of a claim, 0 where it has none. All that were found are kept until there are more
// records.
func (s *store) row(ctx context.Context, from reading.Database, claim string) (any, error) {
	var last int64
	if err := from.Read(ctx, reading.One(&last), "SELECT coalesce(max(id), 0) FROM records"); err != nil {
		return nil, err
	}
	rows := s.rows.Load()
	if rows == nil || rows.seen != last {
		var err error
		if rows, err = rowsOf(ctx, from); err != nil {
			return nil, err
		}
		rows.seen = last
		s.rows.Store(rows)
	}
	return rows.of[claim], nil
}

// Walk implements [audit.Store]. At the end SQLite holds every index against its table, and every page and
// value against its form, which takes about as long as the reading.
func (s *store) Walk(ctx context.Context, w audit.Walker) error {
	err := s.snapshot(ctx, func(from reading.Database) error {
		if err := s.Show(ctx, from, w); err != nil {
			return err
		}
		var finding string
		err := from.Read(ctx, reading.One(&finding), "PRAGMA integrity_check(1)")
		if err != nil || finding == "ok" {
			return err
		}
		return damage(finding)
	})
	// What keeps a record from being read may be damage: SQLITE_ERROR is said of a statement that does not
	// fit the tables, and the statements are always the same.
	damaged := errors.Is(err, errForm)
	if fault, is := errors.AsType[*driver.Error](err); is {
		code := fault.Code() & 0xff
		damaged = code == lib.SQLITE_CORRUPT || code == lib.SQLITE_NOTADB || code == lib.SQLITE_ERROR
	}
	if damaged && ctx.Err() == nil {
		err = damage(err.Error())
	}
	return s.failed(err)
}

func damage(finding string) error {
	finding = strings.Join(strings.Fields(finding), " ")
	return &audit.BrokenError{Why: text.Messagef("the file is damaged, restore a backup: %s", finding)}
}
