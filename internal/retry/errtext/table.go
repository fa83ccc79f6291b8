package errtext

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the tables
	"encoding/hex"
	"slices"
	"strings"
	"sync"
)

// The files of the folder tables, which people read and edit.
var (
	//go:embed tables/tabela-38.tsv
	tabela38 string
	//go:embed tables/http.tsv
	http string
	//go:embed tables/smtp.tsv
	smtp string
	//go:embed tables/enhanced.tsv
	enhanced string
	//go:embed tables/soap.tsv
	soap string
	//go:embed tables/exceptions.tsv
	exceptions string
	//go:embed tables/terms.tsv
	terms string
	//go:embed tables/nouns.tsv
	nouns string
	//go:embed tables/marks.tsv
	marks string
	//go:embed tables/answers.tsv
	answers string
	//go:embed tables/roles.tsv
	roles string
	//go:embed tables/times.tsv
	times string
	//go:embed tables/vocabulary.txt
	vocabulary string
)

// The tables of evidence.
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
	key                   // the name of what an insurer answers
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

	signs sign // of the rows
}

// Row is a row of a table. A field that the table does not have is empty.
type Row struct {
	*Group
	// Code is a number, as it is written; empty in a table of terms.
	Code string
	// Term is what the code means, or the phrase or the name that is looked for.
	Term string
	// same is another row of the same phrase, nil for none.
	same *Row
}

// Group is what many rows have in common.
type Group struct {
	Kind Kind
	// Class is PERMANENT or TRANSIENT; empty where the row says nothing about that.
	Class string
	// Sign groups terms: away, busy, timeout, refused, ...
	Sign string
	// Needs is what the row must be said of to count: "system"; "subject" if it is nothing for a claim's;
	// "claim" if a refusal is one only of a claim's or a plan's data, not of a message; empty if it counts by
	// itself.
	Needs string

	sign sign
	role nounRole // of a noun
}

// Version returns a short hash of the tables: by one version each text says the same.
var Version = sync.OnceValue(func() string {
	all := sha256.New()
	for _, table := range []string{
		tabela38, http, smtp, enhanced, soap, exceptions, terms, nouns, marks, answers, roles, times,
		vocabulary,
	} {
		all.Write([]byte(table))
	}
	return hex.EncodeToString(all.Sum(nil)[:6])
})

// TableOf returns the table of a name, nil for none.
func TableOf(name string) *Table {
	if i := slices.IndexFunc(tables(), func(t *Table) bool { return t.Name == name }); i >= 0 {
		return tables()[i]
	}
	return nil
}

// readTable reads a table. The first line names the columns: a code or none, the term, and what many rows
// have in common; source and version are for people.
func readTable(name string, kind Kind, text string) *Table {
	head, text, _ := strings.Cut(text, "\n")
	columns, hasCode := strings.CutPrefix(head, "code\t")
	names := strings.Split(columns, "\t")[1:]
	t := &Table{Name: name, Rows: make([]Row, strings.Count(text, "\n"))}
	groups := map[string]*Group{}
	for i := range t.Rows {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		r := &t.Rows[i]
		if hasCode {
			r.Code, line, _ = strings.Cut(line, "\t")
		}
		r.Term, line, _ = strings.Cut(line, "\t")
		if r.Group = groups[line]; r.Group == nil {
			r.Group = newGroup(kind, names, strings.Split(line, "\t"))
			groups[line] = r.Group
			t.signs |= r.sign
		}
	}
	return t
}

func newGroup(kind Kind, names, values []string) *Group {
	g := &Group{Kind: kind}
	for i, name := range names {
		switch name {
		case "class":
			g.Class = values[i]
		case "sign":
			g.Sign = values[i]
		case "needs":
			g.Needs = values[i]
		}
	}
	class := ""
	g.sign, class = signOf(g.Sign)
	g.Class = cmp.Or(g.Class, class)
	if kind == noun {
		g.role = 1 << slices.Index(nounRoles, g.Sign)
	}
	return g
}

// tables are all of them, which policies ask for. They are read once.
var tables = sync.OnceValue(func() []*Table {
	return []*Table{
		readTable(TableGlosas, Glosa, tabela38),
		readTable(TableHTTP, HTTP, http),
		readTable(TableSMTP, SMTP, smtp),
		readTable(TableExceptions, Exception, exceptions),
		readTable(TableTerms, Term, terms),
		readTable("nouns", noun, nouns),
		readTable("marks", mark, marks),
		readTable("answers", key, answers),
		readTable("soap", SOAPFault, soap),
		readTable("enhanced", Enhanced, enhanced),
	}
})

// indexed and entries are variables of the program: on a small heap two megabytes begin a collection while
// they are filled. No collection looks at entries, which has no pointers.
var (
	indexed knowledge
	entries index // words by their letters, nodes by what edge returns
)

// known is what all texts are read with. It is made once, when the first text is read: that takes five times
// as long as to read the tables, and no worker waits for it before its first poll.
var known = sync.OnceValue(func() *knowledge {
	k := &indexed
	k.last = anyNumber
	k.ownWords = map[*Row][]int32{}
	k.times = map[uint64]Row{}
	for kind := range k.codes {
		k.codes[kind] = map[string]*Row{}
	}
	for _, t := range tables() {
		for i := range t.Rows {
			k.add(&t.Rows[i])
		}
	}
	for _, r := range readTable("roles", Term, roles).Rows {
		for name := range strings.FieldsSeq(r.Sign) {
			entries.add(hashOf(r.Term)).roles |= 1 << slices.Index(roleNames, name)
		}
	}
	var first letters
	for _, r := range readTable("times", mark, times).Rows {
		next(r.Term, 0, &first)
		k.times[hashOf(r.Term)] = r
		entries.add(first.hash()).roles |= roleTime
	}
	for word := range strings.Lines(vocabulary) {
		entries.add(hashOf(word)).roles |= roleKept
	}
	return k
})
