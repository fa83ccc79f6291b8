package reading

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Column is one of the table of records.
type Column struct {
	// Name and Kind are as in PostgreSQL; SQLite has no ID and no chain, because its only chain is number 1
	// and a record's place in it is its ID.
	Name, Kind string
	// Field points to the column's field of a record, Value is what it holds, and Values are those of several
	// records, as a slice.
	Field  func(*audit.Record) any
	Value  func(*audit.Record) any
	Values func([]*audit.Record) any
}

// Columns are all of them.
var Columns = []Column{
	of("id", "bigint", func(r *audit.Record) *int64 { return &r.ID }),
	of("chain", "integer", func(r *audit.Record) *int { return &r.Chain }),
	of("seq", "bigint", func(r *audit.Record) *int64 { return &r.Seq }),
	of("at", "timestamptz", func(r *audit.Record) *moment { return (*moment)(&r.At) }),
	of("kind", "smallint", func(r *audit.Record) *audit.Kind { return &r.Kind }),
	of("policy", "text", func(r *audit.Record) *string { return &r.Policy }),
	of("class", "text", func(r *audit.Record) *string { return (*string)(&r.Class) }),
	of("rule", "text", func(r *audit.Record) *string { return &r.Rule }),
	of("code", "text", func(r *audit.Record) *string { return &r.Code }),
	of("course", "smallint", func(r *audit.Record) *audit.CourseFlags { return &r.Course.Flags }),
	of("attempts", "integer", func(r *audit.Record) *int { return &r.Course.Attempts }),
	of("seconds", "bigint", func(r *audit.Record) *int64 { return &r.Course.Seconds }),
	of("cluster", "text", func(r *audit.Record) *string { return &r.Cluster }),
	of("job_key", "bigint", func(r *audit.Record) *int64 { return &r.JobKey }),
	of("process_instance_key", "bigint", func(r *audit.Record) *int64 { return &r.ProcessInstanceKey }),
	of("input_hash", "bytea", func(r *audit.Record) *fixed { return bytes(r.Inputs[:]) }),
	of("claim_id", "text", func(r *audit.Record) *string { return &r.ClaimID }),
	of("prev", "bigint", func(r *audit.Record) *int64 { return &r.Prev }),
	of("retry_count", "integer", func(r *audit.Record) *int { return &r.RetryCount }),
	of("max_retries", "integer", func(r *audit.Record) *int { return &r.MaxRetries }),
	of("next_retry", "timestamptz", func(r *audit.Record) *moment { return (*moment)(&r.NextRetryTime) }),
	of("held_by", "text", func(r *audit.Record) *string { return &r.HeldBy }),
	of("decided_by", "text", func(r *audit.Record) *string { return &r.DecidedBy }),
	of("message", "text", func(r *audit.Record) *string { return &r.Message }),
	of("variables", "text", func(r *audit.Record) *string { return &r.Variables }),
	of("detail", "text", func(r *audit.Record) *string { return &r.Detail }),
	of("hash", "bytea", func(r *audit.Record) *fixed { return bytes(r.Hash[:]) }),
}

// of is a column of a field.
func of[T any](name, kind string, field func(*audit.Record) *T) Column {
	return Column{
		Name: name, Kind: kind,
		Field: func(r *audit.Record) any { return field(r) },
		Value: func(r *audit.Record) any { return *field(r) },
		Values: func(records []*audit.Record) any {
			values := make([]T, len(records))
			for i, r := range records {
				values[i] = *field(r)
			}
			return values
		},
	}
}

// Names lists the names of columns.
func Names(columns []Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

// moment is a time in the database: PostgreSQL's own, or Unix microseconds in SQLite, where earlier workers
// wrote 0 for none.
type moment time.Time

// Scan implements [database/sql.Scanner].
func (m *moment) Scan(stored any) error {
	switch t := stored.(type) {
	case time.Time:
		*m = moment(t.UTC())
	case int64:
		*m = moment(audit.Time(t))
	case nil:
		*m = moment{}
	default:
		return fmt.Errorf("a time that is %T", stored)
	}
	return nil
}

// Value implements [driver.Valuer].
func (m moment) Value() (driver.Value, error) { return time.Time(m), nil }

// fixed are bytes of a fixed length. What is stored with another length was meddled with, and is read as
// zeros.
type fixed []byte

func bytes(b []byte) *fixed { return (*fixed)(&b) }

// Scan implements [database/sql.Scanner].
func (f *fixed) Scan(stored any) error {
	clear(*f)
	if b, _ := stored.([]byte); len(b) == len(*f) {
		copy(*f, b)
	}
	return nil
}

// Value implements [driver.Valuer].
func (f fixed) Value() (driver.Value, error) { return []byte(f), nil }
