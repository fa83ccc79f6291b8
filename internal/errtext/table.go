package errtext

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed tables/*.tsv tables/*.txt
var files embed.FS

// The tables of evidence. Each is a file of the folder tables, which people read and edit.
const (
	TableGlosas     = "tabela-38"  // ANS, Tabela 38: code, term, class, source, version
	TableHTTP       = "http"       // status codes with their reason phrases
	TableSMTP       = "smtp"       // reply codes
	TableExceptions = "exceptions" // classes of exceptions, by sign
	TableTerms      = "terms"      // words and phrases of people and programs, by sign
)

// Kind is a kind of evidence.
type Kind uint8

// The kinds of evidence.
const (
	Glosa     Kind = iota // a code of Tabela 38, or its whole term
	HTTP                  // a status code
	SMTP                  // a reply code
	Enhanced              // an enhanced status code of SMTP: 4.x.x or 5.x.x
	SOAPFault             // a fault code: Client, Sender, Server, Receiver, VersionMismatch, MustUnderstand
	Exception             // a class of exceptions
	Term                  // a phrase of the table terms
	noun                  // what something is said of
	mark                  // how it is said
)

// The classes of rows.
const (
	transient = "TRANSIENT"
	permanent = "PERMANENT"
)

// Table is one of the tables.
type Table struct {
	Name string
	Rows []Row
	// Version is a short hash of the file.
	Version string
}

// Row is a row of a table. A field that the table does not have is empty.
type Row struct {
	Kind Kind
	// Code is a number, as it is written; empty in a table of terms.
	Code string
	// Term is what the code means, or the phrase or the name that is looked for.
	Term string
	// Class is PERMANENT or TRANSIENT; empty where the row says nothing about that.
	Class string
	// Sign groups terms: away, busy, timeout, refused, ...
	Sign string
	// Needs is what the row must be said of to count: "system"; "subject" if it is nothing for a claim's;
	// empty if it counts by itself.
	Needs string

	// id is the row's place among all rows, same that of another row of the same phrase, 0 for none.
	id, same int32
	sign     sign
	rest     string
	// words are those of the term of a glosa, as stems.
	words []int32
}

var fields = map[string]func(*Row) *string{
	"code":    func(r *Row) *string { return &r.Code },
	"term":    func(r *Row) *string { return &r.Term },
	"class":   func(r *Row) *string { return &r.Class },
	"sign":    func(r *Row) *string { return &r.Sign },
	"needs":   func(r *Row) *string { return &r.Needs },
	"source":  func(r *Row) *string { return &r.rest }, // where a row comes from
	"version": func(r *Row) *string { return &r.rest },
}

// Tables returns all tables of evidence, by name.
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

// row returns the first row of a code, nil for none.
func (t *Table) row(code string) *Row {
	if i := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Code == code }); i >= 0 {
		return &t.Rows[i]
	}
	return nil
}

func file(name string) string {
	text, err := files.ReadFile("tables/" + name)
	if err != nil {
		panic(fmt.Sprintf("errtext: %v", err)) // they come with the program, and its tests read them
	}
	return string(text)
}

// readTable reads a table. The first line names the columns.
func readTable(name string, kind Kind) *Table {
	text := file(name + ".tsv")
	sum := sha256.Sum256([]byte(text))
	t := &Table{Name: name, Version: hex.EncodeToString(sum[:6])}
	head, text, _ := strings.Cut(text, "\n")
	columns := strings.Split(head, "\t")
	t.Rows = make([]Row, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		r, rest := Row{Kind: kind}, strings.TrimSuffix(line, "\n")
		for _, column := range columns {
			*fields[column](&r), rest, _ = strings.Cut(rest, "\t")
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// known is what all texts are read with. It is made once, when the first text is read.
var known = sync.OnceValue(readAll)

func readAll() *knowledge {
	k := newKnowledge()
	for _, of := range []struct {
		name string
		kind Kind
	}{
		{TableGlosas, Glosa},
		{TableHTTP, HTTP},
		{TableSMTP, SMTP},
		{TableExceptions, Exception},
		{TableTerms, Term},
	} {
		k.tables = append(k.tables, readTable(of.name, of.kind))
	}
	k.tables = append(k.tables, codeless, readTable("nouns", noun), readTable("marks", mark))
	for _, t := range k.tables {
		for i := range t.Rows {
			k.add(&t.Rows[i])
		}
	}
	k.tables = k.tables[:len(k.tables)-3]
	_, roles, _ := strings.Cut(file("roles.tsv"), "\n")
	for line := range strings.Lines(roles) {
		word, roles, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for name := range strings.FieldsSeq(roles) {
			k.entry(word).roles |= 1 << slices.Index(roleNames, name)
		}
	}
	for word := range strings.FieldsSeq(file("vocabulary.txt")) {
		k.entry(word).isKept = true
	}
	for word := range strings.FieldsSeq(file("names.txt")) {
		k.entry(word).isName = true
	}
	return k
}
