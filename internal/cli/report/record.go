// Package report words what the commands answer: each answer is a value with a stable JSON form and a text
// for a terminal of 80 columns.
package report

import (
	"encoding/json"
	"fmt"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/text"
)

// label is a line with a name before it.
func label(name, value string) string {
	return text.Hanging(fmt.Sprintf("%-18s  ", name), text.Line(value))
}

// Record is a record as it is stored, with its objects as JSON.
type Record struct {
	*audit.Record

	Variables any `json:"variables,omitempty"`
	Detail    any `json:"detail,omitempty"`
}

// RecordOf returns the record as it is printed.
func RecordOf(r *audit.Record) Record { return Record{r, stored(r.Variables), stored(r.Detail)} }

// stored returns a stored JSON object as it is, nil where there is none, and a text where it is damaged.
func stored(s string) any {
	switch {
	case s == "":
		return nil
	case json.Valid([]byte(s)):
		return json.RawMessage(s)
	default:
		return s
	}
}
