package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"hospital.example/analyze-retry/internal/audit"
)

// Check has SQLite hold every index against its table, and every page and value against its form; see [audit.Maintenance]. It
// takes about as long as reading all records.
func (s *store) Check(ctx context.Context) error {
	err := s.check(ctx, "PRAGMA integrity_check(1)", placesDiffer, columnMissing, claimsDiffer)
	if _, broken := errors.AsType[*audit.BrokenError](err); broken {
		return err
	}
	return s.failed(err)
}

// checkSmall is Check for the tables that no chain covers, of which a start makes use at once. They are small.
func (s *store) checkSmall(ctx context.Context) error {
	return s.check(ctx, "PRAGMA integrity_check(heads)", "PRAGMA integrity_check(outbox)", "PRAGMA integrity_check(unanswered)",
		"PRAGMA integrity_check(open_claims)", "PRAGMA integrity_check(meta)", placesDiffer, columnMissing)
}

// placesDiffer is asked because a constraint would not do: SQLite looks at none in a file that is open for reading only.
const placesDiffer = `SELECT coalesce(max('a place of the marks, in heads'), 'ok') FROM heads WHERE published <> published_again OR answered <> answered_again`

// columnMissing fails where the name of a column that is read is another one.
const columnMissing = "SELECT 'ok' WHERE NOT EXISTS (SELECT " + columns + " FROM records LIMIT 0) AND NOT EXISTS (SELECT " + cutColumns + " FROM cuts LIMIT 0)"

// check asks until something is wrong; "ok" is nothing.
func (s *store) check(ctx context.Context, queries ...string) error {
	for _, query := range queries {
		var finding string
		err := s.read.QueryRowContext(ctx, query).Scan(&finding)
		if fault, ok := errors.AsType[*driver.Error](err); ok && slices.Contains(damaged, fault.Code()&0xff) {
			finding, err = fault.Error(), nil
		}
		if err != nil {
			return err
		}
		if finding != "ok" {
			return &audit.BrokenError{Chain: chainNumber, Why: "the file is damaged, restore a backup: " + strings.Join(strings.Fields(finding), " ")}
		}
	}
	return nil
}

// damaged are the errors that damage leads to. SQLITE_ERROR is said of a statement that does not fit the tables, and the
// statements are always the same.
var damaged = []int{lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_ERROR}
