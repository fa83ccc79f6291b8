package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"

	"hospital.example/analyze-retry/internal/audit"
)

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

// newDefinitions returns what the migrations make, of a store in memory.
var newDefinitions = sync.OnceValues(func() (map[string]string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	provider, err := migrations(db)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	if _, err := provider.Up(ctx); err != nil {
		return nil, err
	}
	return definitions(ctx, db)
})

// definitions returns the SQL of all that a database defines, by kind and name. SQLite's own and goose's tables are left out.
func definitions(ctx context.Context, db *sql.DB) (map[string]string, error) {
	all := map[string]string{}
	_, err := collect(ctx, db, func(rows *sql.Rows) (name string, err error) {
		var text string
		err = rows.Scan(&name, &text)
		all[name] = text
		return name, err
	}, `SELECT type || ' ' || name || CASE WHEN type IN ('index', 'trigger') THEN ' on ' || tbl_name ELSE '' END, coalesce(sql, '')
		FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version'`)
	return all, err
}
