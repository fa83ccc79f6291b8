package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
)

// dialect is how the tables are read.
var dialect = reading.Dialect{
	Chains: chains,
	RowKey: "claim_id",
	Row:    func(_ context.Context, _ reading.Database, claimID string) (any, error) { return claimID, nil },
	Alike:  "1, 2, 3, 4, 5, 6, 7",
	Backlog: `SELECT coalesce(sum(heads.seq - published), 0)::bigint, min(records.at)
		FROM outbox JOIN heads USING (chain)
			LEFT JOIN records ON records.chain = outbox.chain AND records.seq = published + 1
		WHERE EXISTS (SELECT FROM meta WHERE name = 'queue')`,
	Expired: `SELECT heads.chain, last.seq, last.hash, last.seq - coalesce(cuts.seq, 0)
		FROM heads LEFT JOIN cuts USING (chain) CROSS JOIN LATERAL (
			SELECT seq, hash FROM records WHERE chain = heads.chain AND seq < coalesce(
				(SELECT seq FROM records WHERE chain = heads.chain AND at >= $1 ORDER BY seq LIMIT 1),
				heads.seq + 1) ORDER BY seq DESC LIMIT 1
		) AS last ORDER BY chain`,
}

// database is what is asked by pgx.
type database struct {
	asked interface {
		Query(ctx context.Context, query string, arguments ...any) (pgx.Rows, error)
	}
}

func (d database) Read(ctx context.Context, row reading.Row, query string, args ...any) error {
	rows, _ := d.asked.Query(ctx, query, args...) // each returns its error
	return each(row)(rows)
}

// each reads the rows of an answer.
func each(row reading.Row) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, row.Into, row.Each)
		return err
	}
}

// snapshot calls read with the store as it is at one moment, for as long as it takes.
func (s *store) snapshot(ctx context.Context, read func(reading.Database) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.pool, options, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		return read(database{tx})
	})
}

// insertRecords inserts the values of all columns, each an array.
var insertRecords = func() string {
	arrays := make([]string, len(reading.Columns))
	for i, c := range reading.Columns {
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, c.Kind)
	}
	return "INSERT INTO records (" + reading.Names + ") " +
		"SELECT * FROM unnest(" + strings.Join(arrays, ", ") + ")"
}()

// valuesOf are the arguments of insertRecords.
func valuesOf(records []*audit.Record) []any {
	values := make([]any, len(reading.Columns))
	for i, c := range reading.Columns {
		column := make([]any, len(records))
		for j, r := range records {
			column[j] = c.Field(r)
		}
		values[i] = column
	}
	return values
}
