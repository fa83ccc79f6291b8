package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"

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
const columnMissing = "SELECT 'ok' WHERE NOT EXISTS (SELECT " + columns + " FROM records LIMIT 0) AND NOT EXISTS (SELECT " + tombstoneColumns + " FROM tombstones LIMIT 0)"

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

func (s *store) Inspect(ctx context.Context) (audit.Inspection, error) {
	has, err := definitions(ctx, s.read)
	if err != nil {
		return audit.Inspection{}, s.failed(err)
	}
	want, err := newDefinitions()
	if err != nil {
		return audit.Inspection{}, s.failed(err)
	}
	var notes []string
	for name, text := range has { // one more makes nothing untrue, unless it refuses records
		_, known := want[name]
		_, of, _ := strings.Cut(name, " on ")
		if _, ours := want["table "+of]; !known && ours && strings.HasPrefix(text, "CREATE INDEX ") {
			notes = append(notes, name+" was added")
			delete(has, name)
		}
	}
	slices.Sort(notes)
	return audit.Inspection{Findings: audit.Differences(want, has), Notes: notes}, nil
}

// newDefinitions returns what a new store defines, of one in memory.
var newDefinitions = sync.OnceValues(func() (map[string]string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	ctx := context.Background()
	if err := define(ctx, db); err != nil {
		return nil, err
	}
	return definitions(ctx, db)
})

// definitions returns the SQL of all that a database defines, by kind and name. SQLite's own tables are left out.
func definitions(ctx context.Context, db *sql.DB) (map[string]string, error) {
	all := map[string]string{}
	_, err := collect(ctx, db, func(rows *sql.Rows) (name string, err error) {
		var text string
		err = rows.Scan(&name, &text)
		all[name] = text
		return name, err
	}, `SELECT type || ' ' || name || CASE WHEN type IN ('index', 'trigger') THEN ' on ' || tbl_name ELSE '' END, coalesce(sql, '')
		FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	return all, err
}
