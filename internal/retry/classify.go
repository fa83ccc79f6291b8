package retry

import (
	"iter"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/evidence"
)

// Class is whether an error can pass by itself. The values are part of the contract with the process model.
type Class string

// The classes of RN-BIL-005.
const (
	Transient Class = "TRANSIENT"
	Permanent Class = "PERMANENT"
	Unknown   Class = "UNKNOWN"
)

// Rule gives a class to the error texts that match.
type Rule struct {
	// ID names the rule in decisions and audit records, for example "transient.TIMEOUT".
	ID string `yaml:"id" json:"id"`
	// Class is the class of the texts that match: [Transient] or [Permanent].
	Class              Class `yaml:"class" json:"class,omitempty"`
	evidence.Condition `yaml:",inline"`
	// Source says where the rule comes from; it decides nothing.
	Source string `yaml:"source" json:"source,omitempty"`
}

// Label returns a name for a metric's label, out of a closed set: the word of a rule that looks for one word only, and the
// rule's ID otherwise.
func (r *Rule) Label() string {
	if c := &r.Condition; len(c.Contains) == 1 && c.Glosa == nil && c.Terms == nil && len(c.HTTP)+len(c.SMTP)+len(c.SOAPFault)+len(c.Exception) == 0 {
		return strings.ToUpper(c.Contains[0])
	}
	return r.ID
}

// The RuleID of a text that no rule matches, and of a blank one.
const (
	RuleUnknown = "unknown"
	RuleEmpty   = "empty"
)

// Classification is what was found about an error text.
type Classification struct {
	Class Class
	// RuleID names the rule that matched; [RuleUnknown] where none did, [RuleEmpty] for a blank text.
	RuleID string
	// Code is the code or the word that the rule found. It is empty where none matched. It is of a table or one of the rule's own words, never a piece of the text.
	Code string
	// Means is what the code means by its table; empty for a word of a rule.
	Means string
	// Label is the rule's [Rule.Label].
	Label string
}

// Found returns what the rule found, for people: the code, or the ID of a rule that found none.
func (c Classification) Found() string {
	if c.Code != "" {
		return c.Code
	}
	return c.RuleID
}

// Classify returns the class of an error text: that of the first rule which matches.
func (p *Policy) Classify(errorText string) Classification {
	t := evidence.Read(errorText)
	defer t.Free()
	return p.classify(t)
}

// Matching returns what each rule that matches an error text makes of it, in the order of the rules. The first one decides.
func (p *Policy) Matching(errorText string) []Classification {
	t := evidence.Read(errorText)
	defer t.Free()
	return slices.Collect(p.matching(t))
}

// Evidence returns what an error text has of that which the policy's rules ask for, in words.
func (p *Policy) Evidence(errorText string) []string {
	t := evidence.Read(errorText)
	defer t.Free()
	var kinds evidence.Kinds
	for _, m := range p.rules {
		kinds |= m.Kinds()
	}
	return t.Words(kinds)
}

// matching returns what each rule that matches a text makes of it.
func (p *Policy) matching(t *evidence.Text) iter.Seq[Classification] {
	return func(yield func(Classification) bool) {
		for i, m := range p.rules {
			if !m.May(t) {
				continue
			}
			r := &p.Rules[i]
			if found, matches := m.Match(t); matches && !yield(Classification{r.Class, r.ID, found.Code, found.Means, r.Label()}) {
				return
			}
		}
	}
}

func (p *Policy) classify(t *evidence.Text) Classification {
	if strings.TrimSpace(t.Source) == "" {
		return Classification{Class: Unknown, RuleID: RuleEmpty, Label: RuleEmpty}
	}
	for c := range p.matching(t) {
		return c
	}
	return Classification{Class: p.Unknown, RuleID: RuleUnknown, Label: RuleUnknown}
}

// isInDoubt reports whether the submission may have reached its receiver although it failed.
func (p *Policy) isInDoubt(t *evidence.Text) bool {
	return slices.ContainsFunc(p.inDoubt, func(m *evidence.Matcher) bool {
		if !m.May(t) {
			return false
		}
		_, found := m.Match(t)
		return found
	})
}
