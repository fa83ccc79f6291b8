package report

import (
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/term"
)

// ShownTable is a table in the list. Its JSON form is stable.
type ShownTable struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	// Signs are the groups of a table of terms; absent in a table of codes.
	Signs []string `json:"signs,omitempty"`
}

// Tables lists the tables that rules refer to.
func Tables() (list []ShownTable) {
	for _, t := range evidence.Tables() {
		list = append(list, ShownTable{t.Name, len(t.Rows), t.Signs()})
	}
	return list
}

// TablesText is the list for people.
func TablesText(list []ShownTable) string {
	rows, signs := [][]string{{"table", "rows"}}, ""
	for _, t := range list {
		rows = append(rows, []string{t.Name, strconv.Itoa(t.Rows)})
		if len(t.Signs) > 0 {
			signs += "\nSigns of " + t.Name + ":\n" + term.Wrap(strings.Join(t.Signs, ", "), "  ")
		}
	}
	return term.Table("", rows) + signs
}

// FullTable is a table with its rows, each by the names of its columns.
type FullTable struct {
	Name string              `json:"name"`
	Rows []map[string]string `json:"rows"`

	table *evidence.Table
}

// TableInFull returns a table with its rows.
func TableInFull(t *evidence.Table) FullTable {
	f := FullTable{Name: t.Name, table: t}
	for i := range t.Rows {
		row := map[string]string{}
		for c, cell := range t.Cells(&t.Rows[i]) {
			row[t.Columns[c]] = cell
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// Text is the table for people.
func (f FullTable) Text() string {
	rows := [][]string{f.table.Columns}
	for i := range f.table.Rows {
		rows = append(rows, f.table.Cells(&f.table.Rows[i]))
	}
	return term.Table("", rows) + "\n"
}
