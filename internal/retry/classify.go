package retry

import (
	"strings"

	"hospital.example/analyze-retry/internal/retry/match"
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
	ID string
	// Class is the class of the texts that match: [Transient] or [Permanent].
	Class Class
	match.Condition
	// Source says where the rule comes from; it decides nothing.
	Source string
}

// Label returns a name for a metric's label, out of a closed set: the word of a rule that looks for one word only, and the
// rule's ID otherwise.
func (r *Rule) Label() string {
	if len(r.Contains) == 1 && len(r.Codes) == 0 && r.Pattern == "" {
		return r.Contains[0]
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
	// Code is the code or the word that the rule found. It is empty where the rule looks for a pattern only, or none
	// matched. It is one of the rule's own words, never a piece of the text.
	Code string
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

// Classify returns the class of an error text. A permanent rule wins over every other, because a retry cannot mend what
// is permanent.
func (p *Policy) Classify(errorText string) Classification {
	p.check()
	var t match.Text
	t.Read(errorText)
	return p.classify(&t)
}

func (p *Policy) classify(t *match.Text) Classification {
	if strings.TrimSpace(t.Upper) == "" {
		return Classification{Class: Unknown, RuleID: RuleEmpty, Label: RuleEmpty}
	}
	for _, permanent := range [...]bool{true, false} {
		for i := range p.Rules {
			r := &p.Rules[i]
			if (r.Class == Permanent) != permanent {
				continue
			}
			if code, found := p.rules[i].Match(t); found {
				return Classification{Class: r.Class, RuleID: r.ID, Code: code, Label: r.Label()}
			}
		}
	}
	return Classification{Class: p.Unknown, RuleID: RuleUnknown, Label: RuleUnknown}
}

// isInDoubt reports whether the submission may have reached its receiver although it failed.
func (p *Policy) isInDoubt(t *match.Text) bool {
	for _, m := range p.inDoubt {
		if _, found := m.Match(t); found {
			return true
		}
	}
	return false
}
