package evidence

import (
	"crypto/sha256"
	"embed"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
)

//go:embed tables/*.csv tables/*.txt
var files embed.FS

// The tables. Each is a file of the folder tables, which people read and edit.
const (
	TableGlosas     = "tabela-38"  // ANS, Tabela 38: code, term, class, source, version
	TableHTTP       = "http"       // status codes with their reason phrases
	TableSMTP       = "smtp"       // reply codes
	TableExceptions = "exceptions" // classes of exceptions, by sign
	TableTerms      = "terms"      // words and phrases of people and programs, by sign
)

// Table is one of the tables.
type Table struct {
	Name    string
	Columns []string
	Rows    []Row

	// Version is a short hash of the rows without their sources.
	Version string
}

// Row is a row of a table. A field that the table does not have is empty.
type Row struct {
	// Code is a number, as it is written; empty in a table of terms.
	Code string
	// Term is what the code means, or the phrase or the name that is looked for.
	Term string
	// Class is PERMANENT or TRANSIENT; empty where the row says nothing about that.
	Class string
	// Sign groups terms: away, busy, timeout, refused, ...
	Sign string
	// Source and Version say where the row comes from.
	Source, Version string
}

func (r *Row) field(column string) *string {
	switch column {
	case "code":
		return &r.Code
	case "term", "name":
		return &r.Term
	case "class":
		return &r.Class
	case "sign":
		return &r.Sign
	case "source":
		return &r.Source
	case "version":
		return &r.Version
	default:
		panic("evidence: no field for the column " + column)
	}
}

// Tables returns all tables, by name.
func Tables() []*Table { return known().tables }

// TableOf returns the table of a name, nil for none.
func TableOf(name string) *Table {
	for _, t := range Tables() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Signs returns the signs of a table, sorted.
func (t *Table) Signs() (signs []string) {
	for i := range t.Rows {
		if sign := t.Rows[i].Sign; sign != "" && !slices.Contains(signs, sign) {
			signs = append(signs, sign)
		}
	}
	slices.Sort(signs)
	return signs
}

// row returns the first row of a code, -1 for none.
func (t *Table) row(code string) int {
	return slices.IndexFunc(t.Rows, func(r Row) bool { return r.Code == code })
}

const rowBytes = 64 // of a file, to begin with

func readTable(name string) (*Table, error) {
	file, err := files.Open("tables/" + name + ".csv")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	lines := csv.NewReader(file)
	lines.ReuseRecord = true
	line, err := lines.Read()
	t := &Table{Name: name, Columns: slices.Clone(line), Rows: make([]Row, 0, info.Size()/rowBytes)}
	cells := map[string]string{} // most columns have few values
	h := sha256.New()
	for err == nil {
		if line, err = lines.Read(); err != nil {
			break
		}
		var r Row
		for i, column := range t.Columns {
			cell, seen := cells[line[i]]
			if !seen {
				if cell = strings.Clone(line[i]); column != "term" {
					cells[cell] = cell
				}
			}
			*r.field(column) = cell
		}
		t.Rows = append(t.Rows, r)
		fmt.Fprintf(h, "%q %q %q %q\n", r.Code, r.Term, r.Class, r.Sign)
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	t.Version = hex.EncodeToString(h.Sum(nil)[:6])
	return t, nil
}

// known is what all texts are read with. It is made once, when the first text is read.
var known = sync.OnceValue(func() *knowledge {
	k := &knowledge{}
	for _, name := range []string{TableGlosas, TableHTTP, TableSMTP, TableExceptions, TableTerms} {
		t, err := readTable(name)
		if err != nil {
			panic(fmt.Sprintf("evidence: %v", err)) // they come with the program, and its tests read them
		}
		k.tables = append(k.tables, t)
	}
	k.build(listed("vocabulary"), listed("names"))
	return k
})

func listed(name string) iter.Seq[string] {
	text, err := files.ReadFile("tables/" + name + ".txt")
	if err != nil {
		panic(fmt.Sprintf("evidence: %v", err))
	}
	return strings.FieldsSeq(string(text))
}
