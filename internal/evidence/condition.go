package evidence

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
)

// Condition is what a rule asks of a text. All that is given must hold; a list holds if one of its items
// does. A new condition is a field whose type is a part, or compiles into one.
type Condition struct {
	// Glosa: a code of Tabela 38.
	Glosa *GlosaCondition `yaml:"glosa" json:"glosa,omitempty"`
	// HTTP are status codes: 503, or 5xx.
	HTTP httpCodes `yaml:"http" json:"http,omitempty"`
	// SMTP are reply codes, 550 or 5xx, and classes of enhanced status codes, 4.x.x and 5.x.x.
	SMTP smtpCodes `yaml:"smtp" json:"smtp,omitempty"`
	// SOAPFault are fault codes: Client, Sender, Server, Receiver, VersionMismatch, MustUnderstand.
	SOAPFault soapFaults `yaml:"soapFault" json:"soapFault,omitempty"`
	// Terms: a phrase of a table of terms.
	Terms *TermsCondition `yaml:"terms" json:"terms,omitempty"`
	// Contains: any of these words stands anywhere in the text, inside of longer words and numbers too. Case
	// does not matter.
	Contains containedWords `yaml:"contains" json:"contains,omitempty"`
	// Unless must not hold; nil for nothing. It has no Unless of its own.
	Unless *Condition `yaml:"unless" json:"unless,omitempty"`
}

// part is a field of a [Condition], which reports whether it holds of a text, and what it found there.
type part interface {
	match(t *Text) (Found, bool)
}

// compiler is a field that must be compiled into a part. Its faults complete a sentence that begins with the
// field.
type compiler interface {
	compile(fault faultFunc) part
}

type faultFunc func(problem string, args ...any)

// implier is a part that knows of others that hold of every text that it holds of. It may miss some.
type implier interface {
	implies(other part) bool
}

// Found is what a matcher has found: a piece of evidence, or a word of the rule's own.
type Found struct {
	// Code is the code, the term or the word, as the table or the rule has it; it is never a piece of the
	// text.
	Code string
	// Means is what a code means; empty for others.
	Means string
}

// Matcher is a compiled [Condition]. It is made by [Compile].
type Matcher struct {
	parts  []part
	unless *Matcher
}

// Compile compiles a condition. It tells fault all that is wrong with it: the setting, such as http, and a
// problem, which completes a sentence that begins with the setting.
func Compile(c Condition, fault func(setting, problem string)) *Matcher {
	m := &Matcher{}
	for field, value := range reflect.ValueOf(c).Fields() {
		if value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0 {
			continue
		}
		switch asked := value.Interface().(type) {
		case part:
			m.parts = append(m.parts, asked)
		case compiler:
			m.parts = append(m.parts, asked.compile(func(problem string, args ...any) {
				fault(field.Tag.Get("yaml"), fmt.Sprintf(problem, args...))
			}))
		}
	}
	if m.parts == nil {
		fault("contains", "is missing, and so is any other condition")
	}
	if c.Unless != nil {
		if c.Unless.Unless != nil {
			fault("unless", "has an unless of its own")
		}
		m.unless = Compile(*c.Unless, func(setting, problem string) {
			fault("unless", "is not right: "+setting+" "+problem)
		})
	}
	return m
}

// Match reports whether the condition holds of a text, and what the first of its parts has found.
func (m *Matcher) Match(t *Text) (found Found, holds bool) {
	for i, p := range m.parts {
		f, holds := p.match(t)
		if !holds {
			return Found{}, false
		}
		if i == 0 {
			found = f
		}
	}
	if m.unless != nil {
		if _, holds := m.unless.Match(t); holds {
			return Found{}, false
		}
	}
	return found, true
}

// Implies reports whether other holds of every text that m holds of. It may miss that.
func (m *Matcher) Implies(other *Matcher) bool {
	implied := func(asked part) bool {
		return slices.ContainsFunc(m.parts, func(p part) bool {
			i, is := p.(implier)
			return is && i.implies(asked) || reflect.DeepEqual(p, asked)
		})
	}
	return all(other.parts, implied) &&
		(other.unless == nil || m.unless != nil && other.unless.Implies(m.unless))
}

// ExcludesItself reports whether unless holds of every text that the rest of the condition holds of.
func (m *Matcher) ExcludesItself() bool {
	return m.unless != nil && (&Matcher{parts: m.parts}).Implies(m.unless)
}

// Kinds returns the kinds of evidence that the condition asks for.
func (m *Matcher) Kinds() (asked []Kind) {
	for _, p := range m.parts {
		if p, are := p.(*pieces); are {
			for kind, rows := range p.rows {
				if slices.Contains(rows, true) {
					asked = append(asked, Kind(kind))
				}
			}
		}
	}
	return asked
}

func all[T any](items []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(items, func(item T) bool { return !holds(item) })
}

// containedWords are looked for as they stand, in upper case.
type containedWords []string

func (c containedWords) compile(fault faultFunc) part {
	var compiled words
	for _, word := range c {
		if strings.TrimSpace(word) == "" {
			fault("has an empty text")
		}
		word = strings.ToUpper(word)
		compiled = append(compiled, containedWord{word, bytesOf(word)})
	}
	return compiled
}

// words are those of which one must stand in a text.
type words []containedWord

type containedWord struct {
	word  string
	bytes uint64 // see bytesOf
}

func (w words) match(t *Text) (Found, bool) {
	upper := t.Upper()
	for i := range w {
		// Most texts lack some byte of most words. To look at that first saves more than a microsecond a
		// text.
		if w[i].bytes&^t.upperBytes == 0 && strings.Contains(upper, w[i].word) {
			return Found{Code: w[i].word}, true
		}
	}
	return Found{}, false
}

func (w words) implies(other part) bool {
	others, are := other.(words)
	return are && all(w, func(one containedWord) bool {
		within := func(of containedWord) bool { return strings.Contains(one.word, of.word) }
		return slices.ContainsFunc(others, within)
	})
}

// bytesOf returns the set of the bytes of a text, each modulo 64.
func bytesOf(text string) (set uint64) {
	for i := range len(text) {
		set |= 1 << (text[i] % 64)
	}
	return set
}

// pieces is what a condition on pieces of evidence is compiled to: the text must have one of them.
type pieces struct {
	// rows are those that count, by kind.
	rows [kinds][]bool
	// inAnswer: the piece must stand in an insurer's answer that does not say that a system is away.
	inAnswer bool
}

// add has the rows of some kinds count that hold, and reports whether there is one.
func (p *pieces) add(holds func(*Row) bool, kinds ...Kind) (some bool) {
	for _, kind := range kinds {
		rows := known().rowsOf(kind)
		if p.rows[kind] == nil {
			p.rows[kind] = make([]bool, len(rows))
		}
		for i := range rows {
			if holds(&rows[i]) {
				p.rows[kind][i], some = true, true
			}
		}
	}
	return some
}

func (p *pieces) match(t *Text) (Found, bool) {
	for i := range t.Pieces {
		piece := &t.Pieces[i]
		rows := p.rows[piece.Kind]
		if rows != nil && rows[piece.row] && (!p.inAnswer || piece.Answer && !piece.Away) {
			return t.describe(piece), true
		}
	}
	return Found{}, false
}

func (p *pieces) implies(other part) bool {
	others, are := other.(*pieces)
	if !are || others.inAnswer && !p.inAnswer {
		return false
	}
	for kind, rows := range p.rows {
		for row, counts := range rows {
			if counts && (others.rows[kind] == nil || !others.rows[kind][row]) {
				return false
			}
		}
	}
	return true
}

// httpCodes, smtpCodes and soapFaults are codes. An x is any digit in those of HTTP and SMTP; of the enhanced
// ones there are the classes only.
type (
	httpCodes  []string
	smtpCodes  []string
	soapFaults []string
)

func (c httpCodes) compile(fault faultFunc) part  { return compileCodes(fault, c, HTTP) }
func (c smtpCodes) compile(fault faultFunc) part  { return compileCodes(fault, c, SMTP, Enhanced) }
func (c soapFaults) compile(fault faultFunc) part { return compileCodes(fault, c, SOAPFault) }

func compileCodes(fault faultFunc, codes []string, kinds ...Kind) part {
	p := &pieces{}
	for _, code := range codes {
		class := strings.ReplaceAll(strings.ToLower(code), "x", "[0-9]")
		is := func(r *Row) bool {
			within, _ := path.Match(class, r.Code)
			return within || strings.EqualFold(code, r.Code)
		}
		if strings.ContainsAny(code, `*?[\`) || !p.add(is, kinds...) {
			fault("has %q, which is no code that is known, and no class such as 5xx", code)
		}
	}
	return p
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

// InAnswer is the In of a condition that counts only what was read out of an insurer's structured answer
// which does not say that a system is away.
const InAnswer = "answer"

func (c *GlosaCondition) compile(fault faultFunc) part {
	p := &pieces{inAnswer: inAnswer(c.In, fault)}
	if c.Table != TableGlosas {
		fault("needs the table %s, not %q", TableGlosas, c.Table)
		return p
	}
	for _, code := range slices.Concat(c.Only, c.Except) {
		if TableOf(c.Table).row(code) < 0 {
			fault("has the code %q, which is not in %s", code, c.Table)
		}
	}
	counts := func(r *Row) bool {
		return (c.Class == "" || r.Class == c.Class) &&
			(len(c.Only) == 0 || slices.Contains(c.Only, r.Code)) && !slices.Contains(c.Except, r.Code)
	}
	if !p.add(counts, Glosa) {
		fault("leaves no code of %s", c.Table)
	}
	return p
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

func (c *TermsCondition) compile(fault faultFunc) part {
	p := &pieces{inAnswer: inAnswer(c.In, fault)}
	kind, is := map[string]Kind{TableTerms: Term, TableExceptions: Exception}[c.Table]
	if !is {
		fault("needs the table %s or %s, not %q", TableTerms, TableExceptions, c.Table)
		return p
	}
	signs := strings.Join(TableOf(c.Table).Signs(), ", ")
	if len(c.Sign) == 0 {
		fault("has no sign; those of %s are %s", c.Table, signs)
	}
	for _, sign := range c.Sign {
		if !p.add(func(r *Row) bool { return r.Sign == sign }, kind) {
			fault("has the sign %q; those of %s are %s", sign, c.Table, signs)
		}
	}
	return p
}

func inAnswer(in string, fault faultFunc) bool {
	if in != "" && in != InAnswer {
		fault("has in: %s, which must be %s", in, InAnswer)
	}
	return in == InAnswer
}
