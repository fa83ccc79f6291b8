package retry

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/text"
)

// maxIDBytes bounds a claim id, because it stands in logs, audit records and messages.
const maxIDBytes = 128

// Request is what a decision depends on.
type Request struct {
	// ClaimID is the claim's identifier, in the form that the policy asks for.
	ClaimID string
	// SubmissionError is the error text as received, for example the insurer's (RN-BIL-005 V4).
	SubmissionError string
	// RetryCount is how often the claim has been tried again so far, 0 or more (RN-BIL-004 V5).
	RetryCount int
	// Retried is how often the audit trail has the claim retried in its present round, by other jobs of the
	// same process instance; 0 where it was not asked. The greater of it and RetryCount counts, because a
	// mapping in the model can lose the count.
	Retried int
	// LastSubmissionTime is when the claim was last submitted; the zero time means not known. It is kept with
	// the decision for analysis and decides nothing.
	LastSubmissionTime time.Time
	// RetryUntil is the time after which the claim is not tried again; the zero time means no such bound.
	RetryUntil time.Time
	// RetryAfter is a hint that came apart from the error text; it goes before one in the text.
	RetryAfter Hint
	// FirstFailure is when the first submission of this round was decided about; zero where this is the
	// first. Only a policy with a Deadline asks for it.
	FirstFailure time.Time
	// ProcessInstanceKey identifies the process instance that asks.
	ProcessInstanceKey int64
	// Ignored are the variables that were left out of the request because they could not be read. They are
	// kept with the decision.
	Ignored []string
}

// Fault is one thing that is wrong with an input variable.
type Fault struct {
	// Variable is the name of the process variable.
	Variable string
	// Value describes what the variable holds without repeating personal data; see [Shape].
	Value text.Message
	// Rule is what it must hold.
	Rule text.Message
}

// HeaderFault begins a Fault's Variable where that is a header of the task, which no operator can correct in
// a running instance.
const HeaderFault = "task header"

// InvalidInputError reports all faults of one request at once. Its text is for the operator who sees the
// incident, and never repeats personal data.
type InvalidInputError struct {
	Faults []Fault
}

// Error returns the text in English.
func (e *InvalidInputError) Error() string { return e.Text().String() }

// Text names every variable, the shape of its value and the rule it breaks.
func (e *InvalidInputError) Text() text.Message {
	var all text.Message
	ofHeader := false
	for i, f := range e.Faults {
		variable := text.Messagef("%s", f.Variable)
		if header, is := strings.CutPrefix(f.Variable, HeaderFault); is {
			ofHeader, variable = true, text.Messagef("task header%s", header)
		}
		if fault := text.Messagef("%s is %s but must be %s", variable, f.Value, f.Rule); i == 0 {
			all = fault
		} else {
			all = text.Messagef("%s; %s", all, fault)
		}
	}
	if ofHeader {
		return text.Messagef("invalid input: %s. Correct the process variables and the worker's policies "+
			"(a task header itself is the model's: "+
			"deploy a corrected model and migrate the instance to it), then resolve the incident", all)
	}
	return text.Messagef("invalid input: %s. Correct the process variables, then resolve the incident", all)
}

// The rules of the input variables, in the words of an incident message.
var (
	RuleClaimID = text.Messagef("a text that matches CLM-<any>-<digits> on one line, " +
		"without control characters, at most 128 bytes")
	RuleAnyID = text.Messagef("one word of letters, digits and . _ : / - " +
		"that begins with a letter or a digit, at most 128 bytes")
	RuleSubmissionError = text.Messagef("the text of the submission error, not blank")
	RuleRetryCount      = text.Messagef("a whole number, 0 or more (absent counts as 0)")
	RuleTime            = text.Messagef("an RFC 3339 time or a local date-time, " +
		"from the year 2000 on, or absent")
)

// IDForm is the form that a policy asks of claim ids.
type IDForm string

// The forms of claim ids.
const (
	// ClaimIDs: CLM-<any>-<digits>; on one line.
	ClaimIDs IDForm = "claim"
	// AnyIDs: any word, for jobs that are no claims; see [ValidID].
	AnyIDs IDForm = "any"
)

// Faults returns what is wrong with the request's values, nil where nothing is.
func (p *Policy) Faults(r Request) []Fault {
	var faults []Fault
	valid, rule := validClaimID, RuleClaimID
	if p.IDs == AnyIDs {
		valid, rule = ValidID, RuleAnyID
	}
	if !valid(r.ClaimID) {
		faults = append(faults, Fault{"claimId", Shape(r.ClaimID), rule})
	}
	if !p.AcceptEmptyError && strings.TrimSpace(r.SubmissionError) == "" {
		faults = append(faults, Fault{"submissionError", Shape(r.SubmissionError), RuleSubmissionError})
	}
	if r.RetryCount < 0 {
		count := text.Messagef("%s", strconv.Itoa(r.RetryCount))
		faults = append(faults, Fault{"retryCount", count, RuleRetryCount})
	}
	return faults
}

var (
	// claimID is ^CLM-.*-\d+$ without what no claim number contains and would do harm in a log or a report:
	// control characters, invisible direction marks, breaks of lines, and bytes that are not UTF-8.
	claimID = regexp.MustCompile(`^CLM-[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\x{FFFD}]*-[0-9]+$`)
	word    = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._:/-]*$`)
)

// ValidID reports whether a text can be the id of what is retried under any policy: a claim id, or one word
// that can do no harm in a log or a report and is no e-mail address.
func ValidID(id string) bool {
	return len(id) <= maxIDBytes && word.MatchString(id) || validClaimID(id)
}

func validClaimID(id string) bool { return len(id) <= maxIDBytes && claimID.MatchString(id) }

// maxShape is how much of a value's shape is shown; an operator recognises a value by its beginning.
const maxShape = 40

// Shape describes a text by its form: letters become x or X, digits become 9, the rest stays. "João 123" is
// shown as
// "Xxxx 999", so that a person sees what kind of value is wrong and nobody's data is repeated.
func Shape(s string) text.Message {
	if s == "" {
		return text.Messagef("empty")
	}
	shape := `"` + strings.Map(shapeOf, text.Shorten(s, maxShape)) + `"`
	if len(s) > maxShape {
		return text.Messagef("%s (%d bytes)", shape, len(s))
	}
	return text.Messagef("%s", shape)
}

func shapeOf(c rune) rune {
	switch {
	case unicode.IsDigit(c):
		return '9'
	case unicode.IsUpper(c):
		return 'X'
	case unicode.IsLetter(c):
		return 'x'
	case c == ' ' || unicode.IsPunct(c) || unicode.IsSymbol(c) && c != utf8.RuneError:
		return c
	default:
		return '?'
	}
}
