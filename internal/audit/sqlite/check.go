package sqlite

import (
	"context"
	"errors"
	"strings"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"hospital.example/analyze-retry/internal/audit"
)

// Check has SQLite hold every index against its table, and every page and value against its form; see [audit.Keeper]. It
// takes about as long as reading all records.
func (s *Store) Check(ctx context.Context) error {
	if err := s.check(ctx, "PRAGMA integrity_check(1)"); err != nil {
		return err
	}
	return s.check(ctx, placesDiffer)
}

// checkSmall is Check for the tables that no chain covers, of which a start makes use at once. They are small.
func (s *Store) checkSmall(ctx context.Context) error {
	for _, table := range [...]string{"heads", "outbox", "unanswered", "deaths", "meta"} {
		if err := s.check(ctx, "PRAGMA integrity_check("+table+")"); err != nil {
			return err
		}
	}
	return s.check(ctx, placesDiffer)
}

// placesDiffer is asked because a constraint would not do: SQLite looks at none in a file that is open for reading only.
const placesDiffer = `SELECT coalesce(max('a place of the marks, in heads'), 'ok') FROM heads WHERE published <> published_again OR answered <> answered_again`

// check asks for the first thing that is wrong; "ok" is none.
func (s *Store) check(ctx context.Context, query string) error {
	var finding string
	err := s.read.QueryRowContext(ctx, query).Scan(&finding)
	if fault, ok := errors.AsType[*driver.Error](err); ok && (fault.Code()&0xff == lib.SQLITE_CORRUPT || fault.Code()&0xff == lib.SQLITE_NOTADB) {
		finding, err = fault.Error(), nil
	}
	switch {
	case err != nil:
		return s.failed(err)
	case finding == "ok":
		return nil
	}
	return &audit.BrokenError{Chain: chainNumber, Why: "the file is damaged, restore a backup: " + strings.Join(strings.Fields(finding), " ")}
}
