package worker

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// noObject is the fault of variables that are no JSON object.
var noObject = &retry.InvalidInputError{Faults: []retry.Fault{{
	Variable: "variables", Value: "no JSON object", Rule: "a JSON object of process variables",
}}}

// decode reads a job: what is asked, and the policy that answers. Its error is an [*retry.InvalidInputError] that names all
// faults at once: headers, wrong types found here, and wrong values found by the rule. The request then holds what could
// be read. settled is false where the job's task or its headers are at fault, so that another set of policies could help.
func decode(v variables, j *job.Job, known *policy.Set, name string) (request retry.Request, chosen *retry.Policy, settled bool, err error) {
	if v == nil {
		return retry.Request{}, nil, true, noObject
	}
	d := decoder{raw: v}
	chosen, settled = d.policyFor(j, known, name)
	d.zone = chosen.Zone
	request = retry.Request{
		ClaimID:            d.text("claimId", retry.RuleClaimID),
		RetryCount:         d.count("retryCount"),
		RetryUntil:         d.time("retryUntil"),
		ProcessInstanceKey: j.ProcessInstanceKey,
	}
	request.LastSubmissionTime, request.Ignored.LastSubmissionTime = outside(&d, retry.VariableLastSubmissionTime, retry.ParseLastSubmissionTime)
	request.RetryAfter, request.Ignored.RetryAfter = outside(&d, retry.VariableRetryAfter, retry.ParseRetryAfter)
	if !chosen.AcceptEmptyError || !d.absent("submissionError") {
		request.SubmissionError = d.text("submissionError", retry.RuleSubmissionError)
	}
	// A variable of the wrong type has been reported already; its zero value is not a second fault.
	for _, f := range chosen.Faults(request) {
		if !d.reported(f.Variable) {
			d.faults = append(d.faults, f)
		}
	}
	if d.reported("claimId") {
		request.ClaimID = "" // it may be anything
	}
	request.ClaimID = strings.Clone(request.ClaimID) // what is kept of a job keeps no other part of its text
	return request, chosen, settled, d.err(FetchVariables)
}

// decoder reads variable after variable and collects what is wrong with them.
type decoder struct {
	raw    variables
	zone   *time.Location
	faults []retry.Fault
	// faultyHeader says that one of the faults is a header's.
	faultyHeader bool
}

func (d *decoder) fault(variable, value, rule string) {
	d.faults = append(d.faults, retry.Fault{Variable: variable, Value: value, Rule: rule})
}

// err is the error of all faults, in the order of the variables; nil where there is none.
func (d *decoder) err(names func() []string) error {
	if d.faults == nil {
		return nil
	}
	inOrder := names()
	slices.SortStableFunc(d.faults, func(a, b retry.Fault) int {
		return slices.Index(inOrder, a.Variable) - slices.Index(inOrder, b.Variable)
	})
	return &retry.InvalidInputError{Faults: d.faults}
}

func (d *decoder) reported(variable string) bool {
	for _, f := range d.faults {
		if f.Variable == variable {
			return true
		}
	}
	return false
}

// absent reports whether a variable is missing or null, which Zeebe's expressions do not tell apart either.
func (d *decoder) absent(variable string) bool {
	value := d.raw.get(variable)
	return value == "" || value == "null"
}

func (d *decoder) text(variable, rule string) string {
	if d.absent(variable) {
		d.fault(variable, "missing", rule)
		return ""
	}
	value := d.raw.get(variable)
	if value[0] != '"' {
		d.fault(variable, describe(value), rule)
		return ""
	}
	return unquote(value)
}

// count accepts whole numbers however they are written: FEEL makes no difference between 2 and 2.0.
func (d *decoder) count(variable string) int {
	if d.absent(variable) {
		return 0
	}
	value := d.raw.get(variable)
	number, err := strconv.ParseFloat(value, 64) // a text is still in its quotes: no number
	if err != nil || number != math.Trunc(number) || number > math.MaxInt32 || number < 0 {
		d.fault(variable, describe(value), retry.RuleRetryCount)
		return 0
	}
	return int(number)
}

// time accepts what [ParseTime] reads.
func (d *decoder) time(variable string) time.Time {
	if d.absent(variable) {
		return time.Time{}
	}
	value := d.raw.get(variable)
	if value[0] == '"' {
		if t, ok := ParseTime(unquote(value), d.zone); ok {
			return t
		}
	}
	d.fault(variable, describe(value), retry.RuleTime)
	return time.Time{}
}

// ParseTime reads a time that a person wrote, and therefore strictly: RFC 3339, also with the name of the zone behind it,
// as the broker writes FEEL's now(): "2026-11-21T05:37:53.539Z[Etc/UTC]". A time without a zone, as Java's LocalDateTime
// prints it, is read in the policy's. A time before 2000 is refused: it is what an unset variable turns into, and the
// zero time would mean that there is none.
func ParseTime(text string, zone *time.Location) (t time.Time, ok bool) {
	t, err := parseInstant(text)
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if err != nil {
			t, err = time.ParseInLocation(layout, text, zone)
		}
	}
	if err != nil || t.Before(retry.FirstTime) {
		return time.Time{}, false
	}
	return t, true
}

// parseInstant reads RFC 3339, also with the name of a zone in brackets behind it.
func parseInstant(text string) (time.Time, error) {
	instant, zone, named := strings.Cut(text, "[")
	if named != strings.HasSuffix(zone, "]") {
		return time.Time{}, errors.New("the name of the zone is cut off")
	}
	return time.Parse(time.RFC3339, instant)
}

// outside reads a variable that another system wrote. It is never a fault of the job: what cannot be read is as if it were
// absent, and reason says why.
func outside[T any](d *decoder, variable string, read func(string, *time.Location) (T, retry.IgnoredReason)) (value T, reason retry.IgnoredReason) {
	if d.absent(variable) {
		return value, ""
	}
	text, ok := textOrNumber(d.raw.get(variable))
	if !ok {
		return value, retry.IgnoredType
	}
	return read(text, d.zone)
}

// textOrNumber returns what a JSON text says, and a JSON number without an exponent. ok is false for other values.
func textOrNumber(value string) (text string, ok bool) {
	switch {
	case value[0] == '"':
		return unquote(value), true
	case value[0] != '-' && (value[0] < '0' || value[0] > '9'):
		return "", false
	case strings.ContainsAny(value, "eE"):
		number, _ := strconv.ParseFloat(value, 64) // too large is infinite: a text that is no number
		return strconv.FormatFloat(number, 'f', -1, 64), true
	default:
		return value, true
	}
}

// maxShownNumber keeps numbers that could identify a person out of messages: a birth date or a phone number has 8 digits,
// an identity card 7. A count that is wrong, such as 2.5 or -1, is shown.
const maxShownNumber = 4

// describe says what a variable holds without repeating personal data.
func describe(value string) string {
	switch value[0] {
	case '"':
		return "the text " + retry.Shape(unquote(value))
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f', 'n':
		return value
	default:
		if len(value) > maxShownNumber {
			return "a number of " + strconv.Itoa(len(value)) + " characters"
		}
		return value
	}
}
