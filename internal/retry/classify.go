package retry

import (
	"cmp"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"hospital.example/analyze-retry/internal/retry/errtext"
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
	Class             Class `yaml:"class,omitempty" json:"class,omitempty"`
	errtext.Condition `yaml:",inline"`
	// Team is who must act on an error of a [Permanent] rule, a word of the form [TeamForm] such as
	// operations; empty for those whom the process model names.
	Team string `yaml:"team,omitempty" json:"team,omitempty"`
	// Source says where the rule comes from; it decides nothing.
	Source string `yaml:"source,omitempty" json:"source,omitempty"`
	// Matcher is the condition of a policy's rule, compiled.
	Matcher *errtext.Matcher `yaml:"-" json:"-"`
}

// TeamForm is the form of the word for those who must act on a claim that is stopped.
var TeamForm = regexp.MustCompile(`^[a-z-]{1,30}$`)

// Label returns a name for a metric's label, out of a closed set: the word of a rule that looks for one word
// only, and the rule's ID otherwise.
func (r *Rule) Label() string {
	rest := r.Condition
	rest.Contains, rest.Unless = nil, nil
	if len(r.Contains) == 1 && reflect.ValueOf(rest).IsZero() {
		return strings.ToUpper(r.Contains[0])
	}
	return r.ID
}

// The ID of the rule of a text that no rule of the policy matches, and of a blank one.
const (
	RuleUnknown = "unknown"
	RuleEmpty   = "empty"
)

// Classification is what was found about an error text.
type Classification struct {
	// Rule is the one that matched. It is never nil: where none did there is one with the ID [RuleUnknown],
	// for a blank text with [RuleEmpty].
	*Rule
	// Found is empty where no rule of the policy matched.
	errtext.Found
}

// Cause returns what the rule found, for people: the code, or the ID of a rule that found none.
func (c Classification) Cause() string { return cmp.Or(c.Code, c.ID) }

// Classify returns the class of an error text: that of the first rule which matches.
func (p *Policy) Classify(errorText string) Classification {
	t := errtext.Read(errorText)
	defer t.Free()
	return p.classify(t)
}

// Explain returns what each rule that matches an error text makes of it, in the order of the rules, of which
// the first one decides, and in words what the text has of that which the policy's rules ask for.
func (p *Policy) Explain(errorText string) (matching []Classification, found []errtext.Evidence) {
	t := errtext.Read(errorText)
	defer t.Free()
	asked := func(kind errtext.Kind) bool {
		return slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Matcher.Asks(kind) })
	}
	matching = slices.Collect(p.matching(t))
	stopped := len(matching) > 0 && matching[0].Class == Permanent
	return matching, t.Evidence(asked, stopped)
}

// matching returns what each rule that matches a text makes of it.
func (p *Policy) matching(t *errtext.Text) iter.Seq[Classification] {
	return func(yield func(Classification) bool) {
		for i := range p.Rules {
			r := &p.Rules[i]
			if found, matches := r.Matcher.Match(t); matches && !yield(Classification{r, found}) {
				return
			}
		}
	}
}

func (p *Policy) classify(t *errtext.Text) Classification {
	if Blank(t.Source) {
		return Classification{Rule: &Rule{ID: RuleEmpty, Class: Unknown}}
	}
	for c := range p.matching(t) {
		return c
	}
	return Classification{Rule: &Rule{ID: RuleUnknown, Class: p.Unknown}}
}

// Blank reports whether there is nothing to see in a text.
func Blank(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool {
		unseen := unicode.IsSpace(c) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c)
		return unicode.IsGraphic(c) && !unseen
	}) < 0
}

// isInDoubt reports whether the submission may have reached its receiver although it failed.
func (p *Policy) isInDoubt(t *errtext.Text) bool {
	return slices.ContainsFunc(p.InDoubt, func(r Rule) bool { return r.Matcher.Mentioned(t) })
}
