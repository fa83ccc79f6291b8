package errtext

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Condition is what a rule asks of a text. All that is given must hold; a list holds if one of its items
// does.
type Condition struct {
	// Glosa: a code of Tabela 38.
	Glosa *GlosaCondition `yaml:"glosa,omitempty,flow" json:"glosa,omitempty"`
	// HTTP are status codes: 503, or 5xx.
	HTTP []string `yaml:"http,omitempty,flow" json:"http,omitempty"`
	// SMTP are reply codes, 550 or 5xx, and classes of enhanced status codes, 4.x.x and 5.x.x.
	SMTP []string `yaml:"smtp,omitempty,flow" json:"smtp,omitempty"`
	// SOAPFault are fault codes: Client, Sender, Server, Receiver, VersionMismatch, MustUnderstand.
	SOAPFault []string `yaml:"soapFault,omitempty,flow" json:"soapFault,omitempty"`
	// Terms: a phrase of a table of terms.
	Terms *TermsCondition `yaml:"terms,omitempty,flow" json:"terms,omitempty"`
	// Contains: any of these words stands anywhere in the text, inside of longer words and numbers too. Case
	// does not matter.
	Contains []string `yaml:"contains,omitempty,flow" json:"contains,omitempty"`
	// Unless must not hold; nil for nothing. It has no Unless of its own.
	Unless *Condition `yaml:"unless,omitempty,flow" json:"unless,omitempty"`
}

// GlosaCondition is a code of a table.
type GlosaCondition struct {
	// Table is [TableGlosas].
	Table string `yaml:"table" json:"table"`
	// Class is the class of the rows that count; empty for all.
	Class string `yaml:"class,omitempty" json:"class,omitempty"`
	// Only are the codes that count, empty for all; Except are those that do not.
	Only   []string `yaml:"only,omitempty,flow" json:"only,omitempty"`
	Except []string `yaml:"except,omitempty,flow" json:"except,omitempty"`
	// In is [InAnswer], or empty for anywhere.
	In string `yaml:"in,omitempty" json:"in,omitempty"`
}

// TermsCondition is a phrase of a table.
type TermsCondition struct {
	// Table is [TableTerms] or [TableExceptions].
	Table string `yaml:"table" json:"table"`
	// Sign are the signs that count.
	Sign []string `yaml:"sign,flow" json:"sign"`
	// In is as with glosas.
	In string `yaml:"in,omitempty" json:"in,omitempty"`
}

// InAnswer is the In of a condition that counts only what was read out of an insurer's structured answer
// which does not say that a system is away.
const InAnswer = "answer"

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

// part is what one field of a condition asks for: a code of one of its rows, a phrase of one of
// its signs, by kind, or one of its words, in upper case.
type part struct {
	kinds [noun]bool
	rows  map[*Row]bool
	signs sign
	words []string
	// inAnswer: the piece must stand in an insurer's answer that does not say that a system is away.
	inAnswer bool
}

// Compile compiles a condition. It tells fault all that is wrong with it: the setting, such as http, and a
// problem, which completes a sentence that begins with the setting.
func Compile(c Condition, fault func(setting, problem string)) *Matcher {
	m := &Matcher{}
	add := func(setting string, asks bool, compile func(*part, faultFunc)) {
		if asks {
			p := part{rows: map[*Row]bool{}}
			compile(&p, func(problem string, args ...any) { fault(setting, fmt.Sprintf(problem, args...)) })
			m.parts = append(m.parts, p)
		}
	}
	codes := func(setting string, codes []string, kinds ...Kind) {
		add(setting, len(codes) > 0, func(p *part, fault faultFunc) { p.codes(codes, kinds, fault) })
	}
	add("glosa", c.Glosa != nil, func(p *part, fault faultFunc) { p.glosa(c.Glosa, fault) })
	codes("http", c.HTTP, HTTP)
	codes("smtp", c.SMTP, SMTP, Enhanced)
	codes("soapFault", c.SOAPFault, SOAPFault)
	add("terms", c.Terms != nil, func(p *part, fault faultFunc) { p.terms(c.Terms, fault) })
	add("contains", len(c.Contains) > 0, func(p *part, fault faultFunc) { p.contains(c.Contains, fault) })
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

// faultFunc is told what is wrong with a field, in words that complete a sentence that begins with it.
type faultFunc func(problem string, args ...any)

// codes asks for codes. An x is any digit in those of HTTP and SMTP; of the enhanced ones there are the
// classes only.
func (p *part) codes(codes []string, kinds []Kind, fault faultFunc) {
	for _, code := range codes {
		class := strings.ReplaceAll(strings.ToLower(code), "x", "[0-9]")
		some := p.codesOf(kinds, func(r *Row) bool {
			within, _ := path.Match(class, r.Code)
			return within || strings.EqualFold(code, r.Code)
		})
		if strings.ContainsAny(code, `*?[\`) || !some {
			fault("has %q, which is no code that is known, and no class such as 5xx", code)
		}
	}
}

// codesOf asks for the rows of some kinds that hold, and reports whether there is one.
func (p *part) codesOf(kinds []Kind, holds func(*Row) bool) (some bool) {
	for _, t := range tables() {
		if t.Rows[0].Kind > SOAPFault {
			continue // it has no codes
		}
		for i := range t.Rows {
			if r := &t.Rows[i]; slices.Contains(kinds, r.Kind) && holds(r) {
				p.rows[r], p.kinds[r.Kind], some = true, true, true
			}
		}
	}
	return some
}

func (p *part) glosa(c *GlosaCondition, fault faultFunc) {
	p.in(c.In, fault)
	if c.Table != TableGlosas {
		fault("needs the table %s, not %q", TableGlosas, c.Table)
		return
	}
	for _, code := range slices.Concat(c.Only, c.Except) {
		if !slices.ContainsFunc(TableOf(c.Table).Rows, func(r Row) bool { return r.Code == code }) {
			fault("has the code %q, which is not in %s", code, c.Table)
		}
	}
	if !p.codesOf([]Kind{Glosa}, func(r *Row) bool {
		return (c.Class == "" || r.Class == c.Class) &&
			(len(c.Only) == 0 || slices.Contains(c.Only, r.Code)) && !slices.Contains(c.Except, r.Code)
	}) {
		fault("leaves no code of %s", c.Table)
	}
}

func (p *part) terms(c *TermsCondition, fault faultFunc) {
	p.in(c.In, fault)
	kind, is := map[string]Kind{TableTerms: Term, TableExceptions: Exception}[c.Table]
	if !is {
		fault("needs the table %s or %s, not %q", TableTerms, TableExceptions, c.Table)
		return
	}
	all := TableOf(c.Table).signs
	if kind == Term {
		all |= unsaid // no row has it
	}
	if len(c.Sign) == 0 {
		fault("has no sign; those of %s are %s", c.Table, all)
	}
	for _, name := range c.Sign {
		sign, _ := signOf(name)
		if sign&all == 0 {
			fault("has the sign %q; those of %s are %s", name, c.Table, all)
			continue
		}
		p.signs |= sign
		p.kinds[kind] = true
	}
}

func (p *part) in(in string, fault faultFunc) {
	if p.inAnswer = in == InAnswer; in != "" && !p.inAnswer {
		fault("has in: %s, which must be %s", in, InAnswer)
	}
}

func (p *part) contains(words []string, fault faultFunc) {
	for _, word := range words {
		if strings.TrimSpace(word) == "" {
			fault("has an empty text")
		}
		p.words = append(p.words, strings.ToUpper(word))
	}
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
	for i := range m.parts {
		f, holds := m.parts[i].match(t, all)
		if !holds {
			return Found{}, false
		}
		if i == 0 {
			found = f
		}
	}
	return found, m.unless == nil || !m.unless.Mentioned(t)
}

// match reports whether a part holds of what counts in a text, or of all that it says.
func (p *part) match(t *Text, all bool) (Found, bool) {
	for i := range t.Pieces {
		piece := &t.Pieces[i]
		kind := piece.row.Kind
		if !p.kinds[kind] || p.signs&piece.sign == 0 && !p.rows[piece.row] {
			continue
		}
		inAnswer := piece.answer != nil && piece.weight == fact
		if (piece.Counts || all && piece.weight > nothing) && (inAnswer || !p.inAnswer) {
			return piece.found(), true
		}
	}
	for _, word := range p.words {
		if strings.Contains(t.Upper(), word) {
			return Found{Code: word}, true
		}
	}
	return Found{}, false
}

// Implies reports whether other holds of every text that m holds of. It may miss that.
func (m *Matcher) Implies(other *Matcher) bool {
	return all(other.parts, func(of part) bool {
		return slices.ContainsFunc(m.parts, func(p part) bool { return p.implies(of) })
	}) && (other.unless == nil || m.unless != nil && other.unless.Implies(m.unless))
}

func (p part) implies(other part) bool {
	return p.signs&^other.signs == 0 && (p.signs == 0 || p.kinds == other.kinds) &&
		(p.inAnswer || !other.inAnswer) &&
		all(slices.Collect(maps.Keys(p.rows)), func(r *Row) bool { return other.rows[r] }) &&
		all(p.words, func(one string) bool {
			return slices.ContainsFunc(other.words, func(of string) bool { return strings.Contains(one, of) })
		})
}

func all[T any](items []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(items, func(item T) bool { return !holds(item) })
}

// ExcludesItself reports whether unless holds of every text that the rest of the condition holds of.
func (m *Matcher) ExcludesItself() bool {
	return m.unless != nil && (&Matcher{parts: m.parts}).Implies(m.unless)
}

// Asks reports whether the condition asks for a kind of evidence.
func (m *Matcher) Asks(kind Kind) bool {
	return slices.ContainsFunc(m.parts, func(p part) bool { return p.kinds[kind] })
}
