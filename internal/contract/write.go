package contract

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// The writers are written out by hand because they run for every job, and because order and bytes are a contract: records
// are chained by the hash of their bytes.

// Encode returns what is stored of a decision: the variables of the answer to a job of this type, and the record's detail.
// What the answer of a job type leaves out is in the detail, so that the audit trail holds the same of each.
func Encode(jobType string, d *Decision, rest *Detail) (variables, detail string) {
	if jobType == BackoffJobType {
		return string(d.appendBackoff(make([]byte, 0, 160))), string(rest.append(make([]byte, 0, 1024), d))
	}
	return string(d.append(make([]byte, 0, 640))), rest.Encode()
}

// Encode returns the detail of a record that is no decision.
func (d *Detail) Encode() string { return string(d.append(make([]byte, 0, 512), nil)) }

// AnswerTo returns stored variables as a job of this type is answered with them. For [JobType] that is with its own error
// text, which is not stored: it repeats what the process holds already (RN-BIL-005 section 3.2).
func AnswerTo(jobType, stored, originalError string) string {
	if jobType == BackoffJobType {
		return stored
	}
	return with(stored, OriginalError, originalError)
}

// with returns a JSON object, as this package writes them, with one member more.
func with(object, name, text string) string {
	b := append(make([]byte, 0, len(object)+len(name)+len(text)+8), strings.TrimSuffix(object, "}")...)
	return string(closed(appendMember(b, name, text), 0))
}

// closed ends the object that begins at start, where all members were written with a comma before them.
func closed(b []byte, start int) []byte {
	switch {
	case len(b) == start:
		b = append(b, '{')
	case b[start] == ',':
		b[start] = '{'
	case b[start+1] == ',': // the object was empty
		b = slices.Delete(b, start+1, start+2)
	}
	return append(b, '}')
}

func (d *Decision) append(b []byte) []byte {
	b = append(b, `{"shouldRetry":`...)
	b = strconv.AppendBool(b, d.ShouldRetry)
	b = appendInt(b, "retryCount", d.RetryCount)
	b = appendInt(b, "maxRetries", d.MaxRetries)
	b = appendInt(b, "backoffMinutes", d.BackoffMinutes)
	b = d.appendNextRetryTime(b)
	b = appendMember(b, "retryReason", d.RetryReason)
	b = d.appendFindings(b)
	return append(b, '}')
}

// appendBackoff writes the five names of RN-BIL-004 section 3.2 and nothing else.
func (d *Decision) appendBackoff(b []byte) []byte {
	b = append(b, `{"shouldRetry":`...)
	b = strconv.AppendBool(b, d.ShouldRetry)
	b = d.appendNextRetryTime(b)
	b = appendInt(b, "retryCount", d.RetryCount)
	b = appendMember(b, "retryReason", d.RetryReason)
	b = appendInt(b, "backoffMinutes", d.BackoffMinutes)
	return append(b, '}')
}

func (d *Decision) appendNextRetryTime(b []byte) []byte {
	if d.NextRetryTime == nil {
		return append(b, `,"nextRetryTime":null`...)
	}
	return appendTime(b, "nextRetryTime", d.NextRetryTime, time.RFC3339)
}

func (d *Decision) appendFindings(b []byte) []byte {
	b = appendMember(b, "errorClassification", string(d.ErrorClassification))
	b = append(b, `,"retryDecision":`...)
	return d.RetryDecision.append(b)
}

func (x *Explanation) append(b []byte) []byte {
	b = append(b, `{"policy":`...)
	b = appendString(b, x.Policy)
	b = appendMember(b, "policyVersion", x.PolicyVersion)
	b = appendMember(b, "ruleId", x.RuleID)
	b = appendMember(b, "matchedCode", x.MatchedCode)
	b = appendPresent(b, "matchedMeaning", x.MatchedMeaning)
	b = appendMember(b, "reason", string(x.Reason))
	b = appendMember(b, "delayBeforeJitter", x.DelayBeforeJitter)
	b = appendMember(b, "backoffDuration", x.BackoffDuration)
	if len(x.Bounds) > 0 {
		b = append(b, `,"bounds":["`...)
		b = append(b, strings.Join(x.Bounds, `","`)...)
		b = append(b, `"]`...)
	}
	b = appendInt(b, "retriesLeft", x.RetriesLeft)
	b = appendPresent(b, "countFrom", string(x.CountFrom))
	if x.Hint != nil {
		b = append(b, `,"hint":{"source":`...)
		b = appendString(b, string(x.Hint.Source))
		b = appendPresent(b, "after", x.Hint.After)
		b = appendTime(b, "until", x.Hint.Until, time.RFC3339)
		b = append(b, '}')
	}
	b = appendTime(b, "deadline", x.Deadline, time.RFC3339)
	b = appendPresent(b, "advice", string(x.Advice))
	if x.SecondsSinceLastSubmission != 0 {
		b = appendInt(b, "secondsSinceLastSubmission", x.SecondsSinceLastSubmission)
	}
	if x.Overrides != nil {
		b = x.Overrides.append(append(b, `,"overrides":`...))
	}
	for i, ignored := range x.Ignored {
		b = append(b, [...]string{`,"ignored":[`, `,`}[min(i, 1)]...)
		b = append(b, `{"variable":`...)
		b = appendString(b, ignored.Variable)
		b = append(appendMember(b, "reason", string(ignored.Reason)), '}')
	}
	if len(x.Ignored) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func (o *Overrides) append(b []byte) []byte {
	start := len(b)
	if o.MaxRetries != nil {
		b = appendInt(b, "maxRetries", *o.MaxRetries)
	}
	b = appendPresent(b, "base", o.Base)
	b = appendPresent(b, "max", o.Max)
	b = appendPresent(b, "deadline", o.Deadline)
	return closed(b, start)
}

// append writes the detail, with what the answer lacks of a decision where that is not nil.
func (d *Detail) append(b []byte, lacking *Decision) []byte {
	b = appendPresent(b, "processId", d.ProcessID)
	b = appendPresent(b, "elementId", d.ElementID)
	b = appendPresent(b, "submissionError", d.SubmissionError)
	if d.Steps != nil {
		b = append(b, `,"steps":{"errorReceived":"`...)
		b = d.Steps.ErrorReceived.AppendFormat(b, time.RFC3339Nano)
		b = append(b, `","afterMicros":`...)
		separator := byte('[')
		for _, after := range d.Steps.AfterMicros {
			b = append(b, separator)
			b = strconv.AppendInt(b, after, 10)
			separator = ','
		}
		b = append(b, `]}`...)
	}
	b = appendPresent(b, "with", d.With)
	if d.ExecutionTimeMs != 0 {
		b = append(b, `,"executionTimeMs":`...)
		b = strconv.AppendFloat(b, d.ExecutionTimeMs, 'f', -1, 64)
	}
	if d.Attempts != 0 {
		b = appendInt(b, "attempts", d.Attempts)
	}
	b = appendTime(b, "firstFailureTime", d.FirstFailureTime, time.RFC3339Nano)
	b = appendPresent(b, "policy", d.Policy)
	b = appendPresent(b, "justification", d.Justification)
	b = appendPresent(b, "decidedBy", d.DecidedBy)
	b = appendPresent(b, "redriveId", d.RedriveID)
	b = appendPresent(b, "redriveWait", d.RedriveWait)
	b = appendPresent(b, "decisionProblem", d.DecisionProblem)
	if lacking != nil {
		b = appendInt(b, "maxRetries", lacking.MaxRetries)
		b = lacking.appendFindings(b)
	}
	return closed(b, 0)
}

// appendName writes the name of a member with a comma before it; see [closed].
func appendName(b []byte, name string) []byte {
	return append(append(append(b, `,"`...), name...), `":`...)
}

// appendMember writes a member that is a text.
func appendMember(b []byte, name, text string) []byte { return appendString(appendName(b, name), text) }

// appendInt writes a member that is a whole number.
func appendInt[T int | int64](b []byte, name string, n T) []byte {
	return strconv.AppendInt(appendName(b, name), int64(n), 10)
}

// appendPresent is appendMember for a text that is left out where it is empty.
func appendPresent(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendMember(b, name, text)
}

// appendTime writes a member that is a time, and nothing for nil.
func appendTime(b []byte, name string, t *time.Time, layout string) []byte {
	if t == nil {
		return b
	}
	b = append(appendName(b, name), '"')
	return append(t.AppendFormat(b, layout), '"')
}

// appendString writes a JSON string. The text is valid UTF-8, because it came out of a JSON decoder.
func appendString(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	clean := 0
	for i := range len(text) {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, text[clean:i]...)
		clean = i + 1
		if c == '"' || c == '\\' {
			b = append(b, '\\', c)
		} else {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	return append(append(b, text[clean:]...), '"')
}
