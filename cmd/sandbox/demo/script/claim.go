// Package script reads the file that the demo plays: which claims there are, what the insurer answers to each
// submission, what people do, and how each claim must end. examples/README.md describes the file.
package script

import (
	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
)

// Claim is one line of the file.
type Claim struct {
	// Line is where the claim begins in the file, from 1.
	Line int
	// ID is the claim number with which the process is started. It is unique in the file.
	ID string
	// Shows says in a few words what the claim is there to show; it may be empty.
	Shows string
	// Answers are the insurer's, one for each submission; there is at least one.
	Answers []Answer
	// Outcomes are what must become of each submission, as [Outcomes] words them; nil where the file does not say.
	Outcomes []string
	// Acts are what people do with the claim, in order.
	Acts []Act
	// End is how it must end.
	End history.End
}

// Answer is what the insurer answers to one submission: [Accepted], [Empty], or the text of its error.
type Answer string

// The answers that are not an error's text.
const (
	// Accepted takes the claim.
	Accepted Answer = "OK"
	// Empty refuses it and gives no reason.
	Empty Answer = "EMPTY"
)

// ErrorText is what a refusal says.
func (a Answer) ErrorText() string {
	if a == Empty {
		return ""
	}
	return string(a)
}

// The people who act on claims. The teams are named as in the model.
const (
	Billing      = "billing"
	Registration = "registration"
	// Operator corrects a variable and resolves the incident.
	Operator = "operator"
)

// The decisions of a team, as the model knows them.
const (
	Resubmit = "RESUBMIT"
	Abandon  = "ABANDON"
)

// Act is one thing that a person does.
type Act struct {
	// Who is Billing, Registration or Operator.
	Who string
	// Decision and Justification are a team's.
	Decision, Justification string
	// Variable and Value are the operator's correction.
	Variable, Value string
}

// IDs are all the claim numbers that the claim goes by: an operator may correct it.
func (c Claim) IDs() []string {
	ids := []string{c.ID}
	for _, act := range c.Acts {
		if act.Variable == claimID && act.Value != c.ID {
			ids = append(ids, act.Value)
		}
	}
	return ids
}
