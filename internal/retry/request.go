package retry

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxClaimIDBytes bounds a claim id, because it stands in logs, audit records and messages.
const MaxClaimIDBytes = 128

// Request is what a decision depends on.
type Request struct {
	// ClaimID is the claim's identifier; it must match ^CLM-.*-\d+$.
	ClaimID string
	// SubmissionError is the insurer's error text as received. It must not be blank (RN-BIL-005 V4).
	SubmissionError string
	// RetryCount is how often the claim has been tried again so far, 0 or more (RN-BIL-004 V5).
	RetryCount int
	// LastSubmissionTime is when the claim was last submitted; the zero time means not known. It is kept with the
	// decision for analysis and decides nothing.
	LastSubmissionTime time.Time
	// ProcessInstanceKey identifies the process instance that asks.
	ProcessInstanceKey int64
}

// Fault is one thing that is wrong with an input variable.
type Fault struct {
	// Variable is the name of the process variable.
	Variable string
	// Value describes what the variable holds without repeating personal data; see [Shape].
	Value string
	// Rule says what it must hold.
	Rule string
}

// InvalidInputError reports all faults of one request at once. Its text is made for the operator who sees the incident
// and never repeats personal data.
type InvalidInputError struct {
	Faults []Fault
}

// Error names every variable, the shape of its value and the rule it breaks.
func (e *InvalidInputError) Error() string {
	var b strings.Builder
	b.WriteString("invalid input: ")
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s is %s but must be %s", f.Variable, f.Value, f.Rule)
	}
	b.WriteString(". Correct the process variables, then resolve the incident")
	return b.String()
}

// The rules of the input variables, in the words of an incident message.
const (
	RuleClaimID         = `a text that matches CLM-<any>-<digits> on one line, without control characters, at most 128 bytes`
	RuleSubmissionError = `the text of the submission error, not blank`
	RuleRetryCount      = `a whole number, 0 or more (absent counts as 0)`
	RuleLastSubmission  = `an RFC 3339 time, a local date-time, or absent`
)

// Faults returns what is wrong with the request's values, nil where nothing is.
func (r Request) Faults() []Fault {
	var faults []Fault
	if !ValidClaimID(r.ClaimID) {
		faults = append(faults, Fault{"claimId", Shape(r.ClaimID), RuleClaimID})
	}
	if strings.TrimSpace(r.SubmissionError) == "" {
		faults = append(faults, Fault{"submissionError", Shape(r.SubmissionError), RuleSubmissionError})
	}
	if r.RetryCount < 0 {
		faults = append(faults, Fault{"retryCount", fmt.Sprint(r.RetryCount), RuleRetryCount})
	}
	return faults
}

// ValidClaimID tells whether a text is a claim id: ^CLM-.*-\d+$ on the whole string, without the cost of a regular
// expression, but for what no claim number contains and would do harm in a log or a report: control characters,
// invisible direction marks, bytes that are not UTF-8, more than [MaxClaimIDBytes].
func ValidClaimID(id string) bool {
	head := strings.TrimRight(id, "0123456789")
	if len(head) == len(id) || len(id) > MaxClaimIDBytes {
		return false
	}
	if len(head) < len("CLM--") || !strings.HasPrefix(head, "CLM-") || !strings.HasSuffix(head, "-") {
		return false
	}
	for _, c := range head {
		if c == utf8.RuneError || unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c) {
			return false
		}
	}
	return true
}

// maxShape is how much of a value's shape is shown; an operator recognises a value by its beginning.
const maxShape = 40

// Shape describes a text by its form: letters become x or X, digits become 9, the rest stays. "João 123" is shown as
// "Xxxx 999", so that a person sees what kind of value is wrong and nobody's data is repeated.
func Shape(text string) string {
	if text == "" {
		return "empty"
	}
	var b strings.Builder
	b.WriteByte('"')
	shown := 0
	for _, c := range text {
		if shown == maxShape {
			b.WriteString("...")
			break
		}
		shown++
		switch {
		case unicode.IsDigit(c):
			b.WriteByte('9')
		case unicode.IsUpper(c):
			b.WriteByte('X')
		case unicode.IsLetter(c):
			b.WriteByte('x')
		case c == ' ' || unicode.IsPunct(c) || unicode.IsSymbol(c) && c != utf8.RuneError:
			b.WriteRune(c)
		default:
			b.WriteByte('?')
		}
	}
	b.WriteByte('"')
	if len(text) > maxShape {
		fmt.Fprintf(&b, " (%d bytes)", len(text))
	}
	return b.String()
}
