package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// columns are those of a record, in the order in which they are written and read.
const columns = "seq, at, kind, cluster, job_key, process_instance_key, input_hash, claim_id, retry_count, next_retry, message, variables, detail, hash"

// openedColumn is the place of a column behind columns.
const openedColumn = 14

// eachRow calls visit with each row of an answer, and closes that. The row is valid during the call.
func eachRow(rows driver.Rows, visit func(*reader) error) error {
	defer rows.Close()
	v := reader{values: make([]driver.Value, len(rows.Columns()))}
	for {
		switch err := rows.Next(v.values); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := visit(&v); err != nil {
			return err
		}
	}
}

// reader reads the values of a row. The tables are strict: a value of another type is damage, and err names the first.
type reader struct {
	values []driver.Value
	err    error
}

// record reads a row of columns.
func (v *reader) record(r *audit.Record) error {
	*r = audit.Record{Chain: chainNumber, Seq: v.int(0), Kind: audit.Kind(v.int(2)), ClaimID: v.text(7)} //nolint:gosec // a wrong kind fails the chain
	r.ID, r.At = r.Seq, utc(v.int(1))
	r.Cluster, r.JobKey, r.ProcessInstanceKey = v.text(3), v.int(4), v.int(5)
	v.bytes(6, r.Inputs[:])
	r.RetryCount, r.NextRetryTime = int(v.int(8)), audit.NextRetryTime(v.int(9))
	r.Message, r.Variables, r.Detail = v.text(10), v.text(11), v.text(12)
	v.bytes(13, r.Hash[:])
	return v.err
}

func (v *reader) int(i int) int64 {
	n, ok := v.values[i].(int64)
	v.check(i, ok)
	return n
}

func (v *reader) text(i int) string {
	s, ok := v.values[i].(string)
	v.check(i, ok)
	return s
}

func (v *reader) bytes(i int, to []byte) {
	b, ok := v.values[i].([]byte)
	v.check(i, ok && len(b) == len(to))
	copy(to, b)
}

func (v *reader) check(i int, ok bool) {
	if !ok && v.err == nil {
		v.err = fmt.Errorf("record %v: column %d holds %T", v.values[0], i+1, v.values[i])
	}
}

// query calls visit with each record of a query that selects columns, as each does. The record is valid during the call.
func (s *store) query(ctx context.Context, visit func(*audit.Record) error, query string, args ...any) error {
	var record audit.Record
	return s.each(ctx, func(v *reader) error { return v.record(&record) }, func() error { return visit(&record) }, query, args...)
}

// each calls read and then visit with each row of a query, on one of the reading connections. It asks the driver itself: the
// conversions of database/sql cost as much as the reading, and a check reads millions of records. An error of visit's is
// returned as it is.
func (s *store) each(ctx context.Context, read func(*reader) error, visit func() error, query string, args ...any) error {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return s.failed(err)
	}
	defer conn.Close()
	var own error // visit's error is not the store's
	n := 0
	err = conn.Raw(func(c any) error {
		rows, err := c.(driver.QueryerContext).QueryContext(ctx, query, named(nil, args))
		if err != nil {
			return err
		}
		return eachRow(rows, func(v *reader) error {
			if n++; n%1000 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := read(v); err != nil {
				return err
			}
			own = visit()
			return own
		})
	})
	if own != nil {
		return own
	}
	return s.failed(err)
}

// named gives arguments the form in which the driver wants them.
func named(to []driver.NamedValue, args []any) []driver.NamedValue {
	to = to[:0]
	for i, arg := range args {
		to = append(to, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return to
}

// list is query with all records at once.
func (s *store) list(ctx context.Context, query string, args ...any) (records []audit.Record, err error) {
	err = s.query(ctx, func(r *audit.Record) error { records = append(records, *r); return nil }, query, args...)
	return records, err
}

// querier is a pool or one connection of it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// collect returns all rows of a query of database/sql.
func collect[T any](ctx context.Context, from querier, scan func(*sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

func scanInt(rows *sql.Rows) (n int64, err error) {
	err = rows.Scan(&n)
	return n, err
}

// array returns numbers as the JSON array that json_each takes.
func array(numbers []int64) string {
	b := make([]byte, 1, 2+20*len(numbers))
	b[0] = '['
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, ']'))
}

// utc returns a stored time, which is in Unix microseconds.
func utc(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
