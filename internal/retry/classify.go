package retry

import "strings"

// Class tells whether an error can pass by itself. The values are part of the contract with the process model.
type Class string

// The classes of RN-BIL-005.
const (
	Transient Class = "TRANSIENT"
	Permanent Class = "PERMANENT"
	Unknown   Class = "UNKNOWN"
)

// MaxClassifiedBytes is how much of an error text is read to classify it. What an insurer's system says about the
// error stands at the beginning; a stack trace behind it must not cost unbounded time.
const MaxClassifiedBytes = 64 << 10

// Rule gives a class to the error texts that contain a code.
type Rule struct {
	// ID names the rule in decisions and audit records, for example "transient.TIMEOUT".
	ID string
	// Class is the class of the texts that match.
	Class Class
	// Code is what the upper-cased text must contain.
	Code string
}

// unknownRule is the answer where no rule matches.
var unknownRule = Rule{ID: "unknown", Class: Unknown}

func codes(class Class, codes ...string) []Rule {
	rules := make([]Rule, len(codes))
	for i, code := range codes {
		rules[i] = Rule{ID: strings.ToLower(string(class)) + "." + code, Class: class, Code: code}
	}
	return rules
}

// Classify returns the rule that gives the error text its class. A permanent rule wins over every other, because a
// retry cannot mend what is permanent; without any match the rule "unknown" is returned.
func (p *Policy) Classify(errorText string) Rule {
	text := strings.ToUpper(errorText[:min(len(errorText), MaxClassifiedBytes)])
	found := unknownRule
	for _, r := range p.Rules {
		if found.Class != Unknown && r.Class != Permanent {
			continue
		}
		if strings.Contains(text, r.Code) {
			if r.Class == Permanent {
				return r
			}
			found = r
		}
	}
	return found
}
