package policy

import (
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/evidence"
)

// demand is what a condition asks of a text, in the form in which two conditions are compared. Each part that it has must hold,
// and a part holds if one of its items does. A part that is nil is not asked for.
type demand struct {
	contains                                       []string // in upper case
	glosa, http, smtp, soapFault, exception, terms set
	// glosaInAnswer and termsInAnswer: only where an insurer's answer has them.
	glosaInAnswer, termsInAnswer bool
	pattern                      string
	unless                       *demand
}

type set map[string]bool

// setOf returns the set of what stands for the items of a list, nil for none.
func setOf(items []string, standsFor func(item string) []string) set {
	if len(items) == 0 {
		return nil
	}
	s := set{}
	for _, item := range items {
		for _, one := range standsFor(item) {
			s[one] = true
		}
	}
	return s
}

// within reports whether each item of s is one of the other set. Each set is within one that is not asked for.
func (s set) within(other set) bool {
	if other == nil || s == nil {
		return other == nil
	}
	for item := range s {
		if !other[item] {
			return false
		}
	}
	return true
}

func itself(item string) []string { return []string{item} }

// codes returns what a code of a rule stands for: 5xx for all codes of the table that begin with 5.
func codes(table string) func(code string) []string {
	rows := evidence.TableOf(table).Rows
	return func(code string) (all []string) {
		if !strings.Contains(code, "x") || strings.Contains(code, ".") {
			return []string{code}
		}
		for i := range rows {
			if matches(code, rows[i].Code) {
				all = append(all, rows[i].Code)
			}
		}
		return all
	}
}

// matches reports whether a code is one of a pattern, where x is any digit.
func matches(pattern, code string) bool {
	if len(pattern) != len(code) {
		return false
	}
	for i := range len(code) {
		if pattern[i] != 'x' && pattern[i] != code[i] {
			return false
		}
	}
	return true
}

// lastName returns the last part of the name of a class, which is what texts are asked for.
func lastName(class string) string {
	return strings.ToUpper(class[strings.LastIndexByte(class, '.')+1:])
}

func upper(words []string) (all []string) {
	for _, word := range words {
		all = append(all, strings.ToUpper(word))
	}
	return all
}

// demandOf returns what a condition asks for.
func demandOf(c *evidence.Condition) *demand {
	d := &demand{
		http: setOf(c.HTTP, codes(evidence.TableHTTP)), smtp: setOf(c.SMTP, codes(evidence.TableSMTP)), soapFault: setOf(c.SOAPFault, itself),
		exception: setOf(c.Exception, func(name string) []string { return []string{lastName(name)} }),
		contains:  upper(c.Contains),
	}
	if g := c.Glosa; g != nil {
		d.glosa, d.glosaInAnswer = set{}, g.InAnswer
		only, except := setOf(g.Only, itself), setOf(g.Except, itself)
		for _, row := range evidence.TableOf(g.Table).Rows {
			if (g.Class == "" || g.Class == row.Class) && (only == nil || only[row.Code]) && !except[row.Code] {
				d.glosa[row.Code] = true
			}
		}
	}
	if t := c.Terms; t != nil {
		d.terms = setOf(t.Sign, func(sign string) []string { return []string{t.Table + " " + sign} })
		d.termsInAnswer = t.InAnswer
	}
	if c.Unless != nil {
		d.unless = demandOf(c.Unless)
	}
	return d
}

// implies reports whether other holds of every text that d holds of. It may miss that.
func (d *demand) implies(other *demand) bool {
	return d.glosa.within(other.glosa) && (d.glosaInAnswer || !other.glosaInAnswer) &&
		d.terms.within(other.terms) && (d.termsInAnswer || !other.termsInAnswer) &&
		d.http.within(other.http) && d.smtp.within(other.smtp) && d.soapFault.within(other.soapFault) && d.exception.within(other.exception) &&
		(other.unless == nil || d.unless != nil && other.unless.implies(d.unless)) &&
		(other.contains == nil || contain(d.contains, other.contains))
}

// contain reports whether each of the texts contains one of the words.
func contain(texts, words []string) bool {
	for _, text := range texts {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) }) {
			return false
		}
	}
	return texts != nil
}

// excludesItself reports whether unless holds of every text that the condition holds of.
func (d *demand) excludesItself() bool {
	if d.unless == nil {
		return false
	}
	without := *d
	without.unless = nil
	return without.implies(d.unless)
}

// list is one list of a condition, of which one item must hold.
type list struct {
	// setting is the field that has the list.
	setting string
	items   []string
	// only makes a demand ask for one item of the list alone.
	only func(d *demand, item string)
}

func listsOf(c *evidence.Condition) []list {
	lists := []list{
		{"contains", c.Contains, func(d *demand, item string) { d.contains = upper([]string{item}) }},
		{"http", c.HTTP, func(d *demand, item string) { d.http = setOf([]string{item}, codes(evidence.TableHTTP)) }},
		{"smtp", c.SMTP, func(d *demand, item string) { d.smtp = setOf([]string{item}, codes(evidence.TableSMTP)) }},
		{"soapFault", c.SOAPFault, func(d *demand, item string) { d.soapFault = set{item: true} }},
		{"exception", c.Exception, func(d *demand, item string) { d.exception = set{lastName(item): true} }},
	}
	if t := c.Terms; t != nil {
		lists = append(lists, list{"terms", t.Sign, func(d *demand, item string) { d.terms = set{t.Table + " " + item: true} }})
	}
	return lists
}
