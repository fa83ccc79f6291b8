// Package report words what the commands answer: each answer is a value with a stable JSON form and a text for a terminal of
// 80 columns.
package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/text"
)

// labelled is a text of lines with a label each.
type labelled struct{ strings.Builder }

func (b *labelled) label(name, format string, args ...any) {
	b.WriteString(text.Hanging(fmt.Sprintf("%-11s", name), fmt.Sprintf(format, args...)))
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
