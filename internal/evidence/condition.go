package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Condition is what a rule asks of a text. All parts that are given must hold; a list holds if one of its items does.
type Condition struct {
	// Glosa: a code of Tabela 38.
	Glosa *GlosaCondition `yaml:"glosa" json:"glosa,omitempty"`
	// HTTP are status codes: 503, or 5xx.
	HTTP []string `yaml:"http" json:"http,omitempty"`
	// SMTP are reply codes, 550 or 5xx, and classes of enhanced status codes, 4.x.x and 5.x.x.
	SMTP []string `yaml:"smtp" json:"smtp,omitempty"`
	// SOAPFault are fault codes: Client, Sender, Server, Receiver, VersionMismatch, MustUnderstand.
	SOAPFault []string `yaml:"soapFault" json:"soapFault,omitempty"`
	// Exception are classes of exceptions by their last name, SocketTimeoutException.
	Exception []string `yaml:"exception" json:"exception,omitempty"`
	// Terms: a phrase of a table of terms.
	Terms *TermsCondition `yaml:"terms" json:"terms,omitempty"`
	// Contains: any of these words stands anywhere in the text, inside of longer words and numbers too. Case does not matter.
	Contains []string `yaml:"contains" json:"contains,omitempty"`
	// Unless must not hold; nil for nothing.
	Unless *Condition `yaml:"unless" json:"unless,omitempty"`
}

// GlosaCondition is a code of a table.
type GlosaCondition struct {
	// Table is [TableGlosas].
	Table string `yaml:"table" json:"table"`
	// Class is the class of the rows that count; empty for all.
	Class string `yaml:"class" json:"class,omitempty"`
	// Only are the codes that count, empty for all; Except are those that do not.
	Only   []string `yaml:"only" json:"only,omitempty"`
	Except []string `yaml:"except" json:"except,omitempty"`
	// In is [InAnswer], or empty for anywhere.
	In string `yaml:"in" json:"in,omitempty"`
}

// String names the table and the codes that count.
func (c *GlosaCondition) String() string {
	s := c.Table
	if c.Class != "" {
		s += " " + c.Class
	}
	if len(c.Only) > 0 {
		s += " only " + strings.Join(c.Only, ", ")
	}
	if len(c.Except) > 0 {
		s += " except " + strings.Join(c.Except, ", ")
	}
	return s
}

// TermsCondition is a phrase of a table.
type TermsCondition struct {
	// Table is [TableTerms] or [TableExceptions].
	Table string `yaml:"table" json:"table"`
	// Sign are the signs that count.
	Sign []string `yaml:"sign" json:"sign"`
	// In is as with glosas.
	In string `yaml:"in" json:"in,omitempty"`
}

// InAnswer is the In of a condition that counts only what was read out of an insurer's structured answer which does not say that a
// system is away.
const InAnswer = "answer"

// Fault is one thing that is wrong with a condition.
type Fault struct {
	// Setting is glosa, http, contains, ...
	Setting string
	// Problem completes a sentence that begins with the setting.
	Problem string
}

// Matcher is a compiled [Condition]. It is made by [Compile].
type Matcher struct {
	// kinds are those of which a text must have a piece, 0 for none; seen are digits and signs that it must have. They
	// rule out most texts at once.
	kinds    Kinds
	seen     uint64
	parts    [][]piecePattern // of each part, one must match
	names    []string         // of exceptions
	contains []containedWord
	unless   *Matcher
}

// piecePattern is what a piece of evidence must be.
type piecePattern struct {
	kind     Kind
	rows     []bool   // of the kind's table, which count
	names    []string // of a kind without a table
	inAnswer bool
}

// containedWord is a word in upper case. seen are its digits and signs, rare is the place of a character that few texts have.
type containedWord struct {
	word string
	seen uint64
	rare int
}

func newContainedWord(word string) containedWord {
	const common = "EAOISRNTDCMULPBFGHVQJZXKWY" // letters of Portuguese, the commonest first; then digits and signs
	w := containedWord{word: word, seen: seenOf(word)}
	most := -1
	for i := range len(word) {
		if common := strings.IndexByte(common, word[i]); common < 0 || common > most {
			w.rare, most = i, common
			if common < 0 {
				break
			}
		}
	}
	return w
}

// Found is what a matcher has found: a piece of evidence, or a word of the rule's own.
type Found struct {
	// Code is the code, the term or the word, as the table or the rule has it; it is never a piece of the text.
	Code string
	// Means is what a code means; empty for others.
	Means string
}

// Compile compiles a condition, or returns all that is wrong with it.
func Compile(c Condition) (*Matcher, []Fault) {
	m := &Matcher{}
	var faults []Fault
	fault := func(setting, problem string, args ...any) {
		faults = append(faults, Fault{setting, fmt.Sprintf(problem, args...)})
	}
	if c.Glosa != nil {
		m.glosa(c.Glosa, fault)
	}
	if len(c.HTTP) > 0 {
		m.add(codePattern("http", HTTP, c.HTTP, fault))
	}
	m.smtp(c.SMTP, fault)
	m.soap(c.SOAPFault, fault)
	m.exceptions(c.Exception, fault)
	if c.Terms != nil {
		m.terms(c.Terms, fault)
	}
	for _, word := range c.Contains {
		if strings.TrimSpace(word) == "" {
			fault("contains", "has an empty text")
		}
		word = strings.ToUpper(word)
		m.contains = append(m.contains, newContainedWord(word))
	}
	for i, w := range m.contains {
		if m.seen &= w.seen; i == 0 {
			m.seen = w.seen
		}
	}
	if len(m.parts) == 0 && len(m.names) == 0 && len(m.contains) == 0 && len(faults) == 0 {
		fault("contains", "is missing, and so is any other condition: glosa, http, smtp, soapFault, exception, terms or contains is needed")
	}
	if c.Unless != nil {
		if c.Unless.Unless != nil {
			fault("unless", "has an unless of its own")
		}
		unless, more := Compile(*c.Unless)
		for _, f := range more {
			fault("unless", "is not right: %s %s", f.Setting, f.Problem)
		}
		m.unless = unless
	}
	return m, faults
}

type faultFunc func(setting, problem string, args ...any)

func (m *Matcher) glosa(c *GlosaCondition, fault faultFunc) {
	table := TableOf(c.Table)
	if table == nil || c.Table != TableGlosas {
		fault("glosa", "needs the table %s, not %q", TableGlosas, c.Table)
		return
	}
	for _, code := range slices.Concat(c.Only, c.Except) {
		if table.row(code) < 0 {
			fault("glosa", "has the code %q, which is not in %s", code, c.Table)
		}
	}
	rows := make([]bool, len(table.Rows))
	left := false
	for i := range rows {
		r := &table.Rows[i]
		rows[i] = (c.Class == "" || r.Class == c.Class) && (len(c.Only) == 0 || slices.Contains(c.Only, r.Code)) && !slices.Contains(c.Except, r.Code)
		left = left || rows[i]
	}
	if !left {
		fault("glosa", "leaves no code of %s", c.Table)
	}
	m.add(piecePattern{kind: Glosa, rows: rows, inAnswer: inAnswer("glosa", c.In, fault)})
}

// codePattern returns the pattern of a list of codes of a table; x stands for any digit.
func codePattern(setting string, kind Kind, list []string, fault faultFunc) piecePattern {
	table := TableOf(tableNames[kind])
	rows := make([]bool, len(table.Rows))
	for _, code := range list {
		known := false
		for i := range rows {
			if codeMatches(code, table.Rows[i].Code) {
				rows[i], known = true, true
			}
		}
		if !known {
			fault(setting, "has %q, which is no code of the table %s, and no class such as 5xx", code, table.Name)
		}
	}
	return piecePattern{kind: kind, rows: rows}
}

func (m *Matcher) smtp(list []string, fault faultFunc) {
	var replies, enhanced []string
	for _, code := range list {
		if strings.Contains(code, ".") {
			if code != "4.x.x" && code != "5.x.x" {
				fault("smtp", "has %q: an enhanced status code is 4.x.x or 5.x.x", code)
			}
			enhanced = append(enhanced, code[:1])
		} else {
			replies = append(replies, code)
		}
	}
	var part []piecePattern
	if len(replies) > 0 {
		part = append(part, codePattern("smtp", SMTP, replies, fault))
	}
	if len(enhanced) > 0 {
		part = append(part, piecePattern{kind: Enhanced, names: enhanced})
	}
	m.add(part...)
}

// faultCodes are the fault codes of SOAP 1.1 and 1.2.
var faultCodes = []string{"Client", "Sender", "Server", "Receiver", "VersionMismatch", "MustUnderstand"}

func (m *Matcher) soap(list []string, fault faultFunc) {
	for _, code := range list {
		if !slices.Contains(faultCodes, code) {
			fault("soapFault", "has %q: the codes are %s", code, strings.Join(faultCodes, ", "))
		}
	}
	if len(list) > 0 {
		m.add(piecePattern{kind: SOAPFault, names: list})
	}
}

// exceptions adds the last names of classes. They are looked for in the text, whether the table has them or not.
func (m *Matcher) exceptions(list []string, fault faultFunc) {
	for _, name := range list {
		simple := name[strings.LastIndexByte(name, '.')+1:]
		if simple == "" || strings.TrimFunc(simple, isNameRune) != "" {
			fault("exception", "has %q, which is no name of a class", name)
			continue
		}
		m.names = append(m.names, simple)
	}
}

func isNameRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func (m *Matcher) terms(c *TermsCondition, fault faultFunc) {
	table := TableOf(c.Table)
	if table == nil || c.Table != TableTerms && c.Table != TableExceptions {
		fault("terms", "needs the table %s or %s, not %q", TableTerms, TableExceptions, c.Table)
		return
	}
	if len(c.Sign) == 0 {
		fault("terms", "has no sign; those of %s are %s", c.Table, strings.Join(table.Signs(), ", "))
	}
	rows := make([]bool, len(table.Rows))
	for _, sign := range c.Sign {
		if !slices.Contains(table.Signs(), sign) {
			fault("terms", "has the sign %q; those of %s are %s", sign, c.Table, strings.Join(table.Signs(), ", "))
		}
	}
	for i := range rows {
		rows[i] = slices.Contains(c.Sign, table.Rows[i].Sign)
	}
	kind := Term
	if c.Table == TableExceptions {
		kind = Exception
	}
	m.add(piecePattern{kind: kind, rows: rows, inAnswer: inAnswer("terms", c.In, fault)})
}

func inAnswer(setting, in string, fault faultFunc) bool {
	if in != "" && in != InAnswer {
		fault(setting, "has in: %s, which must be %s", in, InAnswer)
	}
	return in == InAnswer
}

func (m *Matcher) add(part ...piecePattern) {
	if len(part) > 0 {
		m.parts = append(m.parts, part)
	}
	for i := range part {
		m.kinds |= 1 << part[i].kind
	}
}

// Kinds returns the kinds of evidence that the condition asks for.
func (m *Matcher) Kinds() (kinds Kinds) { return m.kinds }

// May reports whether the condition can hold of a text; it is quick.
func (m *Matcher) May(t *Text) bool {
	return (m.kinds == 0 || m.kinds&t.kinds != 0) && (m.seen&^t.seen == 0 || t.seen&seenOthers != 0)
}

// Implies reports whether other holds of every text that m holds of. It may miss that.
func (m *Matcher) Implies(other *Matcher) bool {
	for _, asked := range other.parts {
		if !slices.ContainsFunc(m.parts, func(part []piecePattern) bool { return within(part, asked) }) {
			return false
		}
	}
	known := func(name string) bool {
		return slices.ContainsFunc(other.names, func(of string) bool { return strings.EqualFold(of, name) })
	}
	contained := func(w containedWord) bool {
		return slices.ContainsFunc(other.contains, func(of containedWord) bool { return strings.Contains(w.word, of.word) })
	}
	return (len(other.names) == 0 || len(m.names) > 0 && all(m.names, known)) &&
		(len(other.contains) == 0 || len(m.contains) > 0 && all(m.contains, contained)) &&
		(other.unless == nil || m.unless != nil && other.unless.Implies(m.unless))
}

// within reports whether each piece that one of the patterns matches is matched by one of the others.
func within(part, others []piecePattern) bool {
	return all(part, func(p piecePattern) bool {
		return slices.ContainsFunc(others, func(o piecePattern) bool {
			if p.kind != o.kind || o.inAnswer && !p.inAnswer {
				return false
			}
			for row, counts := range p.rows {
				if counts && !o.rows[row] {
					return false
				}
			}
			return all(p.names, func(name string) bool { return slices.Contains(o.names, name) })
		})
	})
}

func all[T any](items []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(items, func(item T) bool { return !holds(item) })
}

// ExcludesItself reports whether unless holds of every text that the rest of the condition holds of.
func (m *Matcher) ExcludesItself() bool {
	if m.unless == nil {
		return false
	}
	rest := *m
	rest.unless = nil
	return rest.Implies(m.unless)
}

// Match reports whether the condition holds of a text; the cheap parts of it are tried first.
func (m *Matcher) Match(t *Text) (found Found, matches bool) {
	for _, part := range m.parts {
		p := t.first(part)
		if p == nil {
			return Found{}, false
		}
		if found.Code == "" {
			found = t.describe(p)
		}
	}
	if len(m.names) > 0 {
		name := t.firstName(m.names)
		if name == "" {
			return Found{}, false
		}
		found.Code = cmp.Or(found.Code, name)
	}
	if len(m.contains) > 0 {
		i := slices.IndexFunc(m.contains, t.contains)
		if i < 0 {
			return Found{}, false
		}
		found.Code = cmp.Or(found.Code, m.contains[i].word)
	}
	if m.unless != nil {
		if _, holds := m.unless.Match(t); holds {
			return Found{}, false
		}
	}
	return found, true
}

// first returns the first piece that one of the patterns matches, nil for none.
func (t *Text) first(part []piecePattern) *Piece {
	for i := range t.Pieces {
		p := &t.Pieces[i]
		for j := range part {
			if part[j].matches(t, p) {
				return p
			}
		}
	}
	return nil
}

func (w *piecePattern) matches(t *Text, p *Piece) bool {
	if p.Kind != w.kind || w.inAnswer && (!p.Answer || p.Away) {
		return false
	}
	if p.row >= 0 {
		return w.rows[p.row]
	}
	is := t.In(p)
	if p.Kind == Enhanced {
		is = is[:1]
	}
	return slices.ContainsFunc(w.names, func(name string) bool { return strings.EqualFold(name, is) })
}

// firstName returns the first of the names that stands in the text as a word of its own, empty for none.
func (t *Text) firstName(names []string) string {
	for _, name := range names {
		upper := strings.ToUpper(name)
		for rest := t.Upper(); ; {
			i := strings.Index(rest, upper)
			if i < 0 {
				break
			}
			before, behind := rest[:i], rest[i+len(upper):]
			if (before == "" || !isNameRune(rune(before[len(before)-1]))) && (behind == "" || !isNameRune(rune(behind[0]))) {
				return name
			}
			rest = rest[i+1:]
		}
	}
	return ""
}

// describe returns what a piece is, in the words of its table.
func (t *Text) describe(p *Piece) Found {
	row := t.Row(p)
	switch {
	case row == nil && p.Kind == SOAPFault:
		i := slices.IndexFunc(faultCodes, func(code string) bool { return strings.EqualFold(code, t.In(p)) })
		return Found{Code: faultCodes[max(i, 0)]}
	case row == nil:
		return Found{Code: t.In(p)[:1] + ".x.x"}
	case row.Code != "":
		return Found{Code: row.Code, Means: row.Term}
	case p.Kind == Exception:
		return Found{Code: strings.Join(nameParts(row.Term), ".")}
	default:
		return Found{Code: row.Term}
	}
}

func codeMatches(pattern, code string) bool {
	if len(pattern) != len(code) {
		return false
	}
	for i := range len(code) {
		if pattern[i] != code[i] && pattern[i] != 'x' {
			return false
		}
	}
	return true
}
