package errtext

import (
	"fmt"
	"maps"
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

// part is a field of a [Condition], which reports whether it holds of a text, and what it found there: of
// what counts, or of all that stands there.
type part interface {
	match(t *Text, all bool) (Found, bool)
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

// Match reports whether the condition holds of what counts in a text, and what the first of its parts has
// found.
func (m *Matcher) Match(t *Text) (found Found, holds bool) { return m.match(t, false) }

// Mentioned reports whether the condition holds of all that a text says, also of what is outweighed.
func (m *Matcher) Mentioned(t *Text) bool {
	_, holds := m.match(t, true)
	return holds
}

func (m *Matcher) match(t *Text, all bool) (found Found, holds bool) {
	for i, p := range m.parts {
		f, holds := p.match(t, all)
		if !holds {
			return Found{}, false
		}
		if i == 0 {
			found = f
		}
	}
	if m.unless != nil && m.unless.Mentioned(t) {
		return Found{}, false
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

// Asks reports whether the condition asks for a kind of evidence.
func (m *Matcher) Asks(kind Kind) bool {
	return slices.ContainsFunc(m.parts, func(p part) bool {
		asked, are := p.(*pieces)
		return are && asked.kinds[kind]
	})
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
		compiled = append(compiled, strings.ToUpper(word))
	}
	return compiled
}

// words are those of which one must stand in a text.
type words []string

func (w words) match(t *Text, _ bool) (Found, bool) {
	upper := t.Upper()
	for _, word := range w {
		if strings.Contains(upper, word) {
			return Found{Code: word}, true
		}
	}
	return Found{}, false
}

func (w words) implies(other part) bool {
	others, are := other.(words)
	return are && all(w, func(one string) bool {
		return slices.ContainsFunc(others, func(of string) bool { return strings.Contains(one, of) })
	})
}

// pieces is what a condition on pieces of evidence is compiled to: the text must have one of them.
type pieces struct {
	// rows are the ids of the rows of codes that count, signs those of phrases, by kind.
	rows  map[int32]bool
	signs [noun]sign
	kinds [noun]bool
	// inAnswer: the piece must stand in an insurer's answer that does not say that a system is away.
	inAnswer bool
}

// add has the rows of a table count that hold, and reports whether there is one.
func (p *pieces) add(kind Kind, holds func(*Row) bool) (some bool) {
	for _, r := range known().rows[1:] {
		if r.Kind == kind && holds(r) {
			p.rows[r.id], p.kinds[kind], some = true, true, true
		}
	}
	return some
}

func (p *pieces) match(t *Text, all bool) (Found, bool) {
	for i := range t.Pieces {
		piece := &t.Pieces[i]
		kind := piece.row.Kind
		inAnswer := piece.answer != nil && piece.weight == fact
		if !p.kinds[kind] || piece.weight == nothing || !all && !piece.Counts || p.inAnswer && !inAnswer {
			continue
		}
		if p.signs[kind]&piece.sign != 0 || p.signs[kind] == 0 && p.rows[piece.row.id] {
			return piece.found(), true
		}
	}
	return Found{}, false
}

func (p *pieces) implies(other part) bool {
	others, are := other.(*pieces)
	if !are || others.inAnswer && !p.inAnswer {
		return false
	}
	for kind, signs := range p.signs {
		if signs&^others.signs[kind] != 0 {
			return false
		}
	}
	for row := range p.rows {
		if !others.rows[row] {
			return false
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
	p := &pieces{rows: map[int32]bool{}}
	for _, code := range codes {
		class := strings.ReplaceAll(strings.ToLower(code), "x", "[0-9]")
		is := func(r *Row) bool {
			within, _ := path.Match(class, r.Code)
			return within || strings.EqualFold(code, r.Code)
		}
		some := false
		for _, kind := range kinds {
			some = p.add(kind, is) || some
		}
		if strings.ContainsAny(code, `*?[\`) || !some {
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
	p := &pieces{rows: map[int32]bool{}, inAnswer: inAnswer(c.In, fault)}
	if c.Table != TableGlosas {
		fault("needs the table %s, not %q", TableGlosas, c.Table)
		return p
	}
	for _, code := range slices.Concat(c.Only, c.Except) {
		if TableOf(c.Table).row(code) == nil {
			fault("has the code %q, which is not in %s", code, c.Table)
		}
	}
	counts := func(r *Row) bool {
		return (c.Class == "" || r.Class == c.Class) &&
			(len(c.Only) == 0 || slices.Contains(c.Only, r.Code)) && !slices.Contains(c.Except, r.Code)
	}
	if !p.add(Glosa, counts) {
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
	p := &pieces{rows: map[int32]bool{}, inAnswer: inAnswer(c.In, fault)}
	kind, is := map[string]Kind{TableTerms: Term, TableExceptions: Exception}[c.Table]
	if !is {
		fault("needs the table %s or %s, not %q", TableTerms, TableExceptions, c.Table)
		return p
	}
	has := map[string]bool{}
	for _, r := range TableOf(c.Table).Rows {
		has[r.Sign] = true
	}
	if kind == Term {
		has["unsaid"] = true
	}
	all := strings.Join(slices.Sorted(maps.Keys(has)), ", ")
	if len(c.Sign) == 0 {
		fault("has no sign; those of %s are %s", c.Table, all)
	}
	for _, name := range c.Sign {
		if !has[name] {
			fault("has the sign %q; those of %s are %s", name, c.Table, all)
			continue
		}
		sign, _ := signOf(name)
		p.signs[kind] |= sign
		p.kinds[kind] = true
	}
	return p
}

func inAnswer(in string, fault faultFunc) bool {
	if in != "" && in != InAnswer {
		fault("has in: %s, which must be %s", in, InAnswer)
	}
	return in == InAnswer
}
