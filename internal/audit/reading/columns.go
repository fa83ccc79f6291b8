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
	// Name and Kind are as in PostgreSQL.
	Name, Kind string
	// Field points to the column's field of a record: both drivers read from there and into it.
	Field func(*audit.Record) any
}

// Columns are all of them.
var Columns = []Column{
	{"id", "bigint", func(r *audit.Record) any { return &r.ID }},
	{"chain", "integer", func(r *audit.Record) any { return &r.Chain }},
	{"seq", "bigint", func(r *audit.Record) any { return &r.Seq }},
	{"at", "timestamptz", func(r *audit.Record) any { return (*moment)(&r.At) }},
	{"kind", "smallint", func(r *audit.Record) any { return &r.Kind }},
	{"policy", "text", func(r *audit.Record) any { return &r.Policy }},
	{"class", "text", func(r *audit.Record) any { return (*string)(&r.Class) }},
	{"rule", "text", func(r *audit.Record) any { return &r.Rule }},
	{"code", "text", func(r *audit.Record) any { return &r.Code }},
	{"course", "smallint", func(r *audit.Record) any { return &r.Course.Flags }},
	{"attempts", "integer", func(r *audit.Record) any { return &r.Course.Attempts }},
	{"seconds", "bigint", func(r *audit.Record) any { return &r.Course.Seconds }},
	{"cluster", "text", func(r *audit.Record) any { return &r.Cluster }},
	{"job_key", "bigint", func(r *audit.Record) any { return &r.JobKey }},
	{"process_instance_key", "bigint", func(r *audit.Record) any { return &r.ProcessInstanceKey }},
	{"input_hash", "bytea", func(r *audit.Record) any { return bytes(r.Inputs[:]) }},
	{"claim_id", "text", func(r *audit.Record) any { return &r.ClaimID }},
	{"prev", "bigint", func(r *audit.Record) any { return &r.Prev }},
	{"retry_count", "integer", func(r *audit.Record) any { return &r.RetryCount }},
	{"max_retries", "integer", func(r *audit.Record) any { return &r.MaxRetries }},
	{"next_retry", "timestamptz", func(r *audit.Record) any { return (*moment)(&r.NextRetryTime) }},
	{"held_by", "text", func(r *audit.Record) any { return &r.HeldBy }},
	{"decided_by", "text", func(r *audit.Record) any { return &r.DecidedBy }},
	{"message", "text", func(r *audit.Record) any { return &r.Message }},
	{"variables", "text", func(r *audit.Record) any { return &r.Variables }},
	{"detail", "text", func(r *audit.Record) any { return &r.Detail }},
	{"hash", "bytea", func(r *audit.Record) any { return bytes(r.Hash[:]) }},
}

// Names lists their names.
var Names = func() string {
	names := make([]string, len(Columns))
	for i, c := range Columns {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}()

// Select selects them.
var Select = "SELECT " + Names

// moment is a time in the database: PostgreSQL's own, or Unix microseconds in SQLite.
type moment time.Time

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

func (m moment) Value() (driver.Value, error) { return time.Time(m), nil }

// fixed are bytes of a fixed length. What is stored with another length was meddled with, and is read as
// zeros.
type fixed []byte

func bytes(b []byte) *fixed { return (*fixed)(&b) }

func (f *fixed) Scan(stored any) error {
	clear(*f)
	if b, _ := stored.([]byte); len(b) == len(*f) {
		copy(*f, b)
	}
	return nil
}

func (f fixed) Value() (driver.Value, error) { return []byte(f), nil }
