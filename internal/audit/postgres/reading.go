package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hospital.example/analyze-retry/internal/audit"
)

// querier is a pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, query string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, arguments ...any) pgx.Row
	Exec(ctx context.Context, statement string, arguments ...any) (pgconn.CommandTag, error)
}

// Open implements [audit.Store].
func (s *store) Open(ctx context.Context, visit func(string, *audit.State) error) error {
	var unread []error
	rows, _ := s.pool.Query(ctx, selectRows) // eachRow returns its error
	err := s.eachRow(rows, func(claim string, state *audit.State, err error) error {
		if err != nil {
			unread = append(unread, err)
			return nil
		}
		return visit(claim, state)
	})
	if err == nil {
		err = errors.Join(unread...)
	}
	return s.wrap("read the open claims", err)
}

const selectRows = "SELECT claim_id, state FROM claims ORDER BY claim_id"

// eachRow calls visit with each claim of an answer, and the error of a row that cannot be read.
func (s *store) eachRow(rows pgx.Rows, visit func(claim string, state *audit.State, err error) error) error {
	var claim string
	var row []byte
	_, err := pgx.ForEachRow(rows, []any{&claim, &row}, func() error {
		state, err := s.secret.ReadState(claim, row)
		return visit(claim, &state, err)
	})
	return err
}

// selectClaim goes from the claim's last record, and from those that no row leads to, from link to link.
var selectClaim = `WITH RECURSIVE found (id) AS (
		SELECT id FROM records WHERE claim_id = $1 AND kind IN (7, 16, 18)
		UNION SELECT $2::bigint
		UNION SELECT prev FROM found JOIN records USING (id) WHERE prev > 0
	) ` + selectRecords + "JOIN found USING (id) ORDER BY id"

// Claim implements [audit.Store].
func (s *store) Claim(ctx context.Context, claimID string) (state audit.State, records []audit.Record, err error) {
	err = s.snapshot(ctx, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, "SELECT claim_id, state FROM claims WHERE claim_id = $1", claimID) // eachRow returns its error
		err := s.eachRow(rows, func(_ string, found *audit.State, err error) error {
			state = *found
			return err
		})
		if err != nil {
			return err
		}
		rows, _ = tx.Query(ctx, selectClaim, claimID, state.Tip) // collect returns its error
		records, err = collect(rows)
		return err
	})
	return state, records, s.wrap(fmt.Sprintf("read claim %q", claimID), err)
}

// Between implements [audit.Store].
func (s *store) Between(ctx context.Context, from, to time.Time, kinds []audit.Kind, visit func(*audit.Record) error) error {
	rows, _ := s.pool.Query(ctx, selectRecords+ofSpan+audit.OfKinds(kinds)+" ORDER BY at, id", from, to) // each returns its error
	return s.wrap("read records", each(rows, visit))
}

const ofSpan = "WHERE at >= $1 AND at < $2"

// Totals implements [audit.Store].
func (s *store) Totals(ctx context.Context, from, to time.Time, kinds []audit.Kind, visit func(*audit.Total) error) error {
	var t audit.Total
	rows, _ := s.pool.Query(ctx, `SELECT kind, policy, class, rule, code, course, (seconds + 59) / 60, count(*), sum(attempts), sum(seconds)::bigint
		FROM records `+ofSpan+audit.OfKinds(kinds)+" GROUP BY 1, 2, 3, 4, 5, 6, 7", from, to) // ForEachRow returns its error
	_, err := pgx.ForEachRow(rows, []any{&t.Kind, &t.Policy, &t.Class, &t.Rule, &t.Code, &t.Flags, &t.Minutes, &t.Records, &t.Attempts, &t.Seconds},
		func() error { return visit(&t) })
	return s.wrap("count the records", err)
}

// Heads implements [audit.Store].
func (s *store) Heads(ctx context.Context) (heads, cuts []audit.Head, err error) {
	heads, cuts, err = ends(ctx, s.pool)
	return heads, cuts, s.wrap("read the heads", err)
}

// ends returns the heads of all chains that the schema made or that were added, and the cuts.
func ends(ctx context.Context, from querier) (heads, cuts []audit.Head, err error) {
	rows, _ := from.Query(ctx, `SELECT chain, coalesce(seq, 0), coalesce(hash, ''), coalesce(at, 'epoch'), coalesce(signature, ''), false AS cut
		FROM generate_series(1, $1) AS made (chain) FULL JOIN heads USING (chain)
		UNION ALL SELECT chain, seq, hash, at, signature, true FROM cuts ORDER BY cut, chain`, chains) // ForEachRow returns its error
	var h audit.Head
	var cut bool
	_, err = pgx.ForEachRow(rows, append(placeOf(&h), &cut), func() error {
		if cut {
			cuts = append(cuts, h)
		} else {
			heads = append(heads, h)
		}
		h.Signature = nil // the next row's has memory of its own
		return nil
	})
	return heads, cuts, err
}

// Walk implements [audit.Store]. What finds a record is the server's: it checks its pages by their checksums.
func (s *store) Walk(ctx context.Context, w audit.Walker) error {
	return s.wrap("read all", s.snapshot(ctx, func(tx pgx.Tx) error {
		heads, cuts, err := ends(ctx, tx)
		if err == nil {
			err = w.Ends(heads, cuts)
		}
		if err == nil {
			rows, _ := tx.Query(ctx, selectRecords+"ORDER BY id") // each returns its error
			err = each(rows, w.Record)
		}
		if err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, selectRows) // eachRow returns its error
		return s.eachRow(rows, w.Row)
	}))
}

// snapshot reads the store as it is at one moment, for as long as it takes.
func (s *store) snapshot(ctx context.Context, read func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		return read(tx)
	})
}
