package postgres

import (
	"context"
	_ "embed" // inspect.sql and schema.json
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hospital.example/analyze-retry/internal/audit"
)

var (
	//go:embed inspect.sql
	definitionsQuery string

	// expected is what inspect.sql says of a new store, with the roles of deploy/postgres. A test makes it.
	//go:embed schema.json
	expected []byte
)

const (
	appRole = "analyze_retry_app"

	rightKind, ownerKind, hidingKind, indexKind = "right ", "owner ", "row-level security ", "index "
)

// Inspect implements [audit.Maintenance]. It wants no rights but those to read.
func (s *store) Inspect(ctx context.Context) (found audit.Inspection, err error) {
	err = s.inspect(ctx, &found)
	return found, s.wrap("inspect", err)
}

func (s *store) inspect(ctx context.Context, found *audit.Inspection) error {
	version, _, err := schema(ctx, s.pool)
	if err != nil {
		return err
	}
	if version > schemaVersion {
		found.Notes = []string{fmt.Sprintf("the schema has version %d, which only a newer worker can judge", version)}
		return nil
	}
	has, err := definitions(ctx, s.pool)
	if err != nil {
		return err
	}
	var want map[string]string
	if err := json.Unmarshal(expected, &want); err != nil {
		return err
	}
	found.Findings, found.Notes = compare(want, has)
	if note := oneRole(has, s.pool.Config().ConnConfig.User); note != "" {
		found.Notes = append(found.Notes, note)
	}
	return s.count(ctx, found)
}

// definitions returns the definition of everything that the schema has, by kind and name.
func definitions(ctx context.Context, pool *pgxpool.Pool) (map[string]string, error) {
	rows, _ := pool.Query(ctx, definitionsQuery) // ForEachRow returns its error
	all := map[string]string{}
	var kind, name, text string
	_, err := pgx.ForEachRow(rows, []any{&kind, &name, &text}, func() error {
		all[kind+" "+name] = text
		return nil
	})
	return all, err
}

// compare compares what is to be with what is. Rights that are missing are the worker's to complain about, and an index more
// is what a database administrator may add or rebuild.
func compare(want, has map[string]string) (findings, notes []string) {
	want, has = maps.Clone(want), maps.Clone(has)
	for _, name := range slices.Sorted(maps.Keys(has)) {
		_, known := want[name]
		switch {
		case strings.HasPrefix(name, rightKind):
			if !known {
				findings = append(findings, name[len(rightKind):]+" is a right that the worker does not need")
			}
		case strings.HasPrefix(name, hidingKind):
			findings = append(findings, "row-level security is switched on for "+name[len(hidingKind):]+" and can hide records from who reads them")
		case strings.HasPrefix(name, ownerKind):
		case strings.HasPrefix(name, indexKind) && !known:
			notes = append(notes, name+" was added")
		default:
			continue
		}
		delete(has, name)
	}
	maps.DeleteFunc(want, func(name, _ string) bool { return strings.HasPrefix(name, rightKind) })
	return append(audit.Differences(want, has), findings...), notes
}

// oneRole returns what is to be said where the role that asks, or the worker's, owns the tables: it can then do everything,
// and no right needs to be given to it.
func oneRole(has map[string]string, asks string) string {
	for _, owner := range []string{asks, appRole} {
		if _, owns := has[ownerKind+owner+" of records"]; owns {
			return fmt.Sprintf("the role %s owns the tables and can change and remove everything; if the worker runs as it, "+
				"set up the two roles of deploy/postgres, so that the database refuses that", owner)
		}
	}
	return ""
}

// count compares what the sequences have given out with what is stored. A role that may not read them learns nothing.
func (s *store) count(ctx context.Context, found *audit.Inspection) error {
	var lastID, lastChain, id, chain int64
	err := s.pool.QueryRow(ctx, `SELECT `+lastOf("record_ids")+`, `+lastOf("chains")+`,
		(SELECT coalesce(max(id), 0) FROM records), (SELECT coalesce(max(chain), 0) FROM heads)`).Scan(&lastID, &lastChain, &id, &chain)
	if err != nil {
		return err
	}
	if found.LastID = max(lastID, 0); lastID < 0 {
		found.Notes = append(found.Notes, "this role may not read the sequences, so what they have given out is not compared (GRANT SELECT ON ALL SEQUENCES IN SCHEMA analyze_retry)")
		return nil
	}
	if id > lastID {
		found.Findings = append(found.Findings, fmt.Sprintf("sequence record_ids was set back: it has given out IDs through %d, and there is a record %d", lastID, id))
	}
	if chain > lastChain {
		found.Findings = append(found.Findings, fmt.Sprintf("sequence chains was set back: it has given out numbers through %d, and there is a chain %d", lastChain, chain))
	}
	if id > 0 && id < lastID {
		found.Notes = append(found.Notes, fmt.Sprintf("record IDs through %d were given out, the last record has ID %d; transactions that were rolled back, decisions that were stored already and crashes of the server leave gaps", lastID, id))
	}
	return nil
}

// lastOf is the SQL for the last value that a sequence has given out: 0 for none, -1 where the role may not know. A sequence
// that is gone is found by its definition.
func lastOf(sequence string) string {
	return fmt.Sprintf(`(SELECT CASE WHEN oid IS NULL THEN -1 WHEN has_sequence_privilege(oid, 'USAGE, SELECT') THEN coalesce(pg_sequence_last_value(oid), 0) ELSE -1 END
		FROM (SELECT to_regclass('%s') AS oid) AS s)`, sequence)
}
