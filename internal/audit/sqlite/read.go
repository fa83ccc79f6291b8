package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"hospital.example/analyze-retry/internal/audit"
)

// columns are those of a record, in the order in which they are written and read.
const columns = "seq, at, kind, policy, class, rule, code, course, attempts, seconds, cluster, job_key, process_instance_key, input_hash," +
	" claim_id, prev, retry_count, max_retries, next_retry, held_by, decided_by, message, variables, detail, hash"

func recordArgs(r *audit.Record) []any {
	return []any{
		r.Seq, audit.Micros(r.At), int64(r.Kind), r.Policy, string(r.Class), r.Rule, r.Code,
		int64(r.Course.Flags), int64(r.Course.Attempts), r.Course.Seconds, r.Cluster, r.JobKey, r.ProcessInstanceKey, r.Inputs[:],
		r.ClaimID, r.Prev, int64(r.RetryCount), int64(r.MaxRetries), audit.Micros(r.NextRetryTime), r.HeldBy, r.DecidedBy,
		r.Message, r.Variables, r.Detail, r.Hash[:],
	}
}

// scan reads a row of columns.
func scan(rows *sql.Rows, r *audit.Record) error {
	var at, next int64
	var inputs, hash sql.RawBytes
	err := rows.Scan(&r.Seq, &at, &r.Kind, &r.Policy, &r.Class, &r.Rule, &r.Code, &r.Course.Flags, &r.Course.Attempts, &r.Course.Seconds,
		&r.Cluster, &r.JobKey, &r.ProcessInstanceKey, &inputs, &r.ClaimID, &r.Prev, &r.RetryCount, &r.MaxRetries, &next, &r.HeldBy, &r.DecidedBy,
		&r.Message, &r.Variables, &r.Detail, &hash)
	r.ID, r.Chain, r.At, r.NextRetryTime = r.Seq, chainNumber, audit.Time(at), audit.Time(next)
	if err == nil && (copy(r.Inputs[:], inputs) != len(inputs) || copy(r.Hash[:], hash) != len(hash)) {
		err = fmt.Errorf("record %d: a hash is too long", r.Seq)
	}
	return err
}

// micros is the least stored time that is not before t.
func micros(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

// querier is a pool, a connection of it, or the writer.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// query calls visit with each row of the answer to a query.
func query(ctx context.Context, from querier, visit func(*sql.Rows) error, text string, args ...any) error {
	rows, err := from.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// records calls visit with each record of a query that selects columns.
func records(ctx context.Context, from querier, visit func(*audit.Record) error, text string, args ...any) error {
	var r audit.Record
	return query(ctx, from, func(rows *sql.Rows) error {
		if err := scan(rows, &r); err != nil {
			return err
		}
		return visit(&r)
	}, text, args...)
}

// states calls visit with a row of a query that selects claim_id and state, or with why it cannot be read.
func states(secret *audit.Secret, visit func(string, *audit.State, error) error) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var claim string
		var row sql.RawBytes
		if err := rows.Scan(&claim, &row); err != nil {
			return err
		}
		state, err := secret.ReadState(claim, row)
		return visit(claim, &state, err)
	}
}

const selectStates = "SELECT claim_id, state FROM claims ORDER BY id"

// Open implements [audit.Store].
func (s *store) Open(ctx context.Context, visit func(string, *audit.State) error) error {
	var unread []error
	err := query(ctx, s.read, states(s.secret, func(claim string, state *audit.State, err error) error {
		if err != nil {
			unread = append(unread, err)
			return nil
		}
		return visit(claim, state)
	}), selectStates)
	if err == nil {
		err = errors.Join(unread...)
	}
	return s.failed(err)
}

// selectClaim walks the links of a claim's records, from its last one and from those that no row leads to.
const selectClaim = `WITH RECURSIVE of(n) AS (
		SELECT seq FROM records WHERE claim_id = ?1 AND kind IN (7, 16, 18) UNION SELECT ?2
		UNION SELECT prev FROM of CROSS JOIN records ON seq = n WHERE prev > 0
	) SELECT ` + columns + " FROM of CROSS JOIN records ON seq = n ORDER BY seq"

// Claim implements [audit.Store].
func (s *store) Claim(ctx context.Context, claimID string) (state audit.State, all []audit.Record, err error) {
	err = s.snapshot(ctx, func(conn *sql.Conn) error {
		id, err := s.row(ctx, conn, claimID)
		if err != nil {
			return err
		}
		err = query(ctx, conn, states(s.secret, func(_ string, found *audit.State, err error) error {
			state = *found
			return err
		}), "SELECT claim_id, state FROM claims WHERE id = ? AND claim_id = ?", id, claimID)
		if err != nil {
			return err
		}
		return records(ctx, conn, func(r *audit.Record) error { all = append(all, *r); return nil }, selectClaim, claimID, state.Tip)
	})
	return state, all, s.failed(err)
}

// row finds the row of a claim, 0 where it has none. What it finds is kept until there are more records.
func (s *store) row(ctx context.Context, conn *sql.Conn, claim string) (int64, error) {
	var last int64
	if err := conn.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM records").Scan(&last); err != nil {
		return 0, err
	}
	s.rowsMu.Lock()
	defer s.rowsMu.Unlock()
	if s.rows == nil || s.rowsAt != last {
		found, err := rowsOf(ctx, conn)
		if err != nil {
			return 0, err
		}
		s.rows, s.rowsAt = found, last
	}
	return s.rows.of[claim], nil
}

// Between implements [audit.Store].
func (s *store) Between(ctx context.Context, from, to time.Time, kinds []audit.Kind, visit func(*audit.Record) error) error {
	return s.failed(records(ctx, s.read, visit, "SELECT "+columns+" FROM records WHERE at >= ? AND at < ?"+audit.OfKinds(kinds)+" ORDER BY at, seq", micros(from), micros(to)))
}

// selectTotals groups by one text, because SQLite sorts what it groups, and one column is sorted in half the time of seven.
const selectTotals = `SELECT kind, policy, class, rule, code, course, (seconds + 59) / 60 AS minutes, count(*), sum(attempts), sum(seconds) FROM records
	WHERE %s GROUP BY kind || '|' || policy || '|' || class || '|' || rule || '|' || code || '|' || course || '|' || ((seconds + 59) / 60)`

// byPlace are the records of a time where places are in the order of time too: over the index of the time a record costs three
// times as much.
const byPlace = `seq >= (SELECT min(seq) FROM records WHERE at >= ?1 AND at < ?2) AND seq <= (SELECT max(seq) FROM records WHERE at >= ?1 AND at < ?2)
	AND +at >= ?1 AND +at < ?2`

// Totals implements [audit.Store].
func (s *store) Totals(ctx context.Context, from, to time.Time, kinds []audit.Kind, visit func(*audit.Total) error) error {
	which := byPlace
	if len(kinds) > 0 { // of those that are asked for there is an index
		which = "at >= ?1 AND at < ?2" + audit.OfKinds(kinds)
	}
	return s.failed(query(ctx, s.read, func(rows *sql.Rows) error {
		var t audit.Total
		if err := rows.Scan(&t.Kind, &t.Policy, &t.Class, &t.Rule, &t.Code, &t.Flags, &t.Minutes, &t.Records, &t.Attempts, &t.Seconds); err != nil {
			return err
		}
		return visit(&t)
	}, fmt.Sprintf(selectTotals, which), micros(from), micros(to)))
}

// snapshot calls do with a connection that sees the store as it is at one moment.
func (s *store) snapshot(ctx context.Context, do func(*sql.Conn) error) error {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	err = do(conn)
	_, endErr := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return errors.Join(err, endErr)
}

// Heads implements [audit.Store].
func (s *store) Heads(ctx context.Context) (heads, cuts []audit.Head, err error) {
	heads, cuts, err = ends(ctx, s.read)
	return heads, cuts, s.failed(err)
}

// ends returns the only head and the cut, if there is one.
func ends(ctx context.Context, from querier) (heads, cuts []audit.Head, err error) {
	heads = []audit.Head{{Chain: chainNumber}}
	err = marks(ctx, from, func(h audit.Head) { heads[0] = h }, "SELECT * FROM heads")
	if err == nil {
		err = marks(ctx, from, func(h audit.Head) { cuts = append(cuts, h) }, "SELECT * FROM cuts")
	}
	return heads, cuts, err
}

// marks reads signed places, which have the columns of the tables heads and cuts.
func marks(ctx context.Context, from querier, visit func(audit.Head), text string) error {
	return query(ctx, from, func(rows *sql.Rows) error {
		var h audit.Head
		var hash []byte
		var at int64
		err := rows.Scan(&h.Chain, &h.Seq, &hash, &at, &h.Signature)
		copy(h.Hash[:], hash)
		h.At = audit.Time(at)
		visit(h)
		return err
	}, text)
}

// Walk implements [audit.Store]. At the end SQLite holds every index against its table, and every page and value against its
// form, which takes about as long as the reading.
func (s *store) Walk(ctx context.Context, w audit.Walker) error {
	err := s.snapshot(ctx, func(conn *sql.Conn) error {
		heads, cuts, err := ends(ctx, conn)
		if err == nil {
			err = w.Ends(heads, cuts)
		}
		if err == nil {
			err = records(ctx, conn, w.Record, "SELECT "+columns+" FROM records ORDER BY seq")
		}
		if err == nil {
			err = query(ctx, conn, states(s.secret, w.Row), selectStates)
		}
		if err != nil {
			return err
		}
		var finding string
		if err := conn.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&finding); err != nil || finding == "ok" {
			return err
		}
		return damage(finding)
	})
	// What keeps a record from being read may be damage: SQLITE_ERROR is said of a statement that does not fit the tables, and
	// the statements are always the same.
	if fault, is := errors.AsType[*driver.Error](err); is && ctx.Err() == nil {
		switch fault.Code() & 0xff {
		case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_ERROR:
			err = damage(fault.Error())
		}
	}
	return s.failed(err)
}

func damage(finding string) error {
	return &audit.BrokenError{Why: audit.Whyf("the file is damaged, restore a backup: %s", strings.Join(strings.Fields(finding), " "))}
}

// readMeta reads a value, empty where there is none.
func readMeta(ctx context.Context, from querier, name string) (value string, err error) {
	err = query(ctx, from, func(rows *sql.Rows) error { return rows.Scan(&value) }, "SELECT value FROM meta WHERE name = ?", name)
	return value, err
}
