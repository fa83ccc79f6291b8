package postgres

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
)

// column is one of the table of records: where it is read into, and its values of several records.
type column struct {
	name, kind string
	into       func(*audit.Record) any
	values     func([]*audit.Record) any
}

// columns are all of them.
var columns = []column{
	of("id", "bigint", func(r *audit.Record) *int64 { return &r.ID }),
	of("chain", "integer", func(r *audit.Record) *int { return &r.Chain }),
	of("seq", "bigint", func(r *audit.Record) *int64 { return &r.Seq }),
	of("prev", "bigint", func(r *audit.Record) *int64 { return &r.Prev }),
	of("kind", "smallint", func(r *audit.Record) *audit.Kind { return &r.Kind }),
	of("at", "timestamptz", func(r *audit.Record) *time.Time { return &r.At }),
	of("cluster", "text", func(r *audit.Record) *string { return &r.Cluster }),
	of("job_key", "bigint", func(r *audit.Record) *int64 { return &r.JobKey }),
	of("process_instance_key", "bigint", func(r *audit.Record) *int64 { return &r.ProcessInstanceKey }),
	of("input_hash", "bytea", func(r *audit.Record) *fixed { return bytes(r.Inputs[:]) }),
	of("claim_id", "text", func(r *audit.Record) *string { return &r.ClaimID }),
	of("retry_count", "integer", func(r *audit.Record) *int { return &r.RetryCount }),
	of("next_retry", "timestamptz", func(r *audit.Record) *time.Time { return &r.NextRetryTime }),
	of("max_retries", "integer", func(r *audit.Record) *int { return &r.MaxRetries }),
	of("class", "text", func(r *audit.Record) *string { return (*string)(&r.Class) }),
	of("rule", "text", func(r *audit.Record) *string { return &r.Rule }),
	of("code", "text", func(r *audit.Record) *string { return &r.Code }),
	of("policy", "text", func(r *audit.Record) *string { return &r.Policy }),
	of("held_by", "text", func(r *audit.Record) *string { return &r.HeldBy }),
	of("decided_by", "text", func(r *audit.Record) *string { return &r.DecidedBy }),
	of("attempts", "integer", func(r *audit.Record) *int { return &r.Course.Attempts }),
	of("seconds", "bigint", func(r *audit.Record) *int64 { return &r.Course.Seconds }),
	of("course", "smallint", func(r *audit.Record) *audit.CourseFlags { return &r.Course.Flags }),
	of("message", "text", func(r *audit.Record) *string { return &r.Message }),
	of("variables", "text", func(r *audit.Record) *string { return &r.Variables }),
	of("detail", "text", func(r *audit.Record) *string { return &r.Detail }),
	of("hash", "bytea", func(r *audit.Record) *fixed { return bytes(r.Hash[:]) }),
}

// of is a column of a field.
func of[T any](name, kind string, field func(*audit.Record) *T) column {
	return column{name, kind, func(r *audit.Record) any { return field(r) }, func(records []*audit.Record) any {
		values := make([]T, len(records))
		for i, r := range records {
			values[i] = *field(r)
		}
		return values
	}}
}

func bytes(b []byte) *fixed { return (*fixed)(&b) }

// fixed are bytes of a fixed length. What is stored with another length was meddled with, and is read as zeros.
type fixed []byte

// ScanBytes implements pgtype.BytesScanner.
func (f fixed) ScanBytes(stored []byte) error {
	clear(f)
	if len(stored) == len(f) {
		copy(f, stored)
	}
	return nil
}

// selectColumns selects the columns, in their order, and selectRecords those of the records, under conditions that follow.
// insertRecords inserts the values of the columns.
var selectColumns, insertRecords = func() (string, string) {
	names, arrays := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i], arrays[i] = c.name, fmt.Sprintf("$%d::%s[]", i+1, c.kind)
	}
	all := strings.Join(names, ", ")
	return "SELECT " + all, "INSERT INTO records (" + all + ") SELECT * FROM unnest(" + strings.Join(arrays, ", ") + ")"
}()

var selectRecords = selectColumns + " FROM records "

// valuesOf are the arguments of insertRecords.
func valuesOf(records []*audit.Record) []any {
	values := make([]any, len(columns))
	for i, c := range columns {
		values[i] = c.values(records)
	}
	return values
}

// each calls visit with each record of an answer to selectRecords. The record is valid during the call only.
func each(rows pgx.Rows, visit func(*audit.Record) error) error {
	var r audit.Record
	into := make([]any, len(columns))
	for i, c := range columns {
		into[i] = c.into(&r)
	}
	_, err := pgx.ForEachRow(rows, into, func() error { return visit(&r) })
	return err
}

// collect returns all records of an answer.
func collect(rows pgx.Rows) (records []audit.Record, err error) {
	err = each(rows, func(r *audit.Record) error { records = append(records, *r); return nil })
	return records, err
}

// placeOf are where the columns of a signed place are read into.
func placeOf(h *audit.Head) []any {
	return []any{&h.Chain, &h.Seq, bytes(h.Hash[:]), &h.At, &h.Signature}
}
