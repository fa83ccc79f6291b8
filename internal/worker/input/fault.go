package input

import (
	"regexp"

	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// Fault is one thing that is wrong with a job.
type Fault struct {
	// Name is that of the process variable or the task header.
	Name string
	// Header reports whether it is a task header, which no operator can correct in a running instance.
	Header bool
	// Value describes what it holds without repeating personal data.
	Value text.Message
	// Rule is what it must be.
	Rule text.Message
}

// Faults are all that is wrong with a job; nil for nothing.
type Faults []Fault

// Text names every variable, what it holds and the rule that it breaks, for the operator who sees the
// incident. It never repeats personal data.
func (faults Faults) Text() text.Message {
	var all text.Message
	ofHeader, ofError := false, false
	for i, f := range faults {
		fault := text.Messagef("%s is %s but must be %s", f.Name, f.Value, f.Rule)
		ofError = ofError || f.Name == contract.SubmissionError
		if f.Header {
			ofHeader, fault = true, text.Messagef("task header %s", fault)
		}
		if i > 0 {
			fault = text.Messagef("%s; %s", all, fault)
		}
		all = fault
	}
	said := text.Messagef("invalid input: %s. Correct the process variables, then resolve the incident", all)
	if ofHeader {
		said = text.Messagef("invalid input: %s. Correct the process variables and the worker's policies "+
			"(a task header itself is the model's: "+
			"deploy a corrected model and migrate the instance to it), then resolve the incident", all)
	}
	if ofError { // RN-BIL-005 section 8.1
		return text.Messagef("INVALID_ERROR_MESSAGE: %s", said)
	}
	return said
}

// The rules of the inputs, in the words of an incident message.
var (
	ruleObject  = text.Messagef("a JSON object")
	ruleClaimID = text.Messagef("a text that matches CLM-<any>-<digits> on one line, " +
		"without control characters, at most 128 bytes")
	ruleAnyID = text.Messagef("one word of letters, digits and . _ : / - " +
		"that begins with a letter or a digit, at most 128 bytes")
	ruleSubmissionError = text.Messagef("the text with which the submission failed")
	ruleMissingError    = text.Messagef("%s (has the error event an output mapping?)", ruleSubmissionError)
	ruleRetryCount      = text.Messagef("a whole number, 0 or more (absent counts as 0)")
	ruleTime            = text.Messagef("an RFC 3339 time or a local date-time, " +
		"from the year 2000 on, or absent")
	ruleMaxRetries    = text.Messagef("a whole number from 0 to 1000")
	ruleMaxAttempts   = text.Messagef("a whole number from 1 to 1001, or absent")
	ruleMilliseconds  = text.Messagef("whole milliseconds, 1 or more, or absent")
	ruleDuration      = text.Messagef("a duration of more than 0, such as 500ms, 90s, 5m, 24h or PT5M")
	ruleWith          = text.Messagef("a word such as billing or dead-letter: 1 to 30 of a to z and -")
	ruleOutcome       = text.Messagef("SUBMITTED, RESUBMITTED, ABANDONED, REDRIVEN or DECISION_REFUSED")
	ruleJustification = text.Messagef("a text that is not blank, at most 500 characters")
	ruleDecidedBy     = text.Messagef("a text of at most 128 characters")
	ruleRedriveID     = text.Messagef("a UUID")
	ruleRedriveWait   = text.Messagef("a duration such as PT30S or PT40M")
)

// claimID is the form of claim ids: ^CLM-.*-\d+$ without what no claim number contains and would do harm in a
// log or a report: control characters, invisible direction marks, breaks of lines, and bytes that are not
// UTF-8. anyID is that of the id of what is retried under any policy: a claim id, or one word that can do no
// harm there and is no e-mail address.
var (
	claimID = regexp.MustCompile(`^` + claimForm + `$`)
	anyID   = regexp.MustCompile(`^(?:[A-Za-z0-9][A-Za-z0-9._:/-]*|` + claimForm + `)$`)
)

const claimForm = `CLM-[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\x{FFFD}]*-[0-9]+`

// isID returns whether a text is an id of a form. It is bounded, in bytes, because it stands in logs, audit
// records and messages.
func isID(form *regexp.Regexp) func(string) (string, bool) {
	return sound(func(id string) bool { return len(id) <= 128 && form.MatchString(id) })
}
