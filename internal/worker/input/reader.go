package input

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry"
)

// notObject is the fault of variables that are no JSON object.
var notObject = &retry.InvalidInputError{Faults: []retry.Fault{{
	Variable: "variables", Value: "no JSON object", Rule: "a JSON object of process variables",
}}}

// reader reads variable after variable and collects what is wrong with them.
type reader struct {
	variables
	zone   *time.Location
	faults []retry.Fault
	// faultyHeader reports whether one of the faults is a header's.
	faultyHeader bool
}

func (r *reader) fault(variable, value, rule string) {
	r.faults = append(r.faults, retry.Fault{Variable: variable, Value: value, Rule: rule})
}

// err returns the error of all faults, in the order of the variables; nil where there is none.
func (r *reader) err(variables func() []string) error {
	if r.faults == nil {
		return nil
	}
	inOrder := variables()
	slices.SortStableFunc(r.faults, func(a, b retry.Fault) int {
		return slices.Index(inOrder, a.Variable) - slices.Index(inOrder, b.Variable)
	})
	return &retry.InvalidInputError{Faults: r.faults}
}

// faulty reports whether a variable has a fault already: its zero value is not a second one.
func (r *reader) faulty(variable string) bool {
	return slices.ContainsFunc(r.faults, func(f retry.Fault) bool { return f.Variable == variable })
}

// text reads a variable that must be a text.
func (r *reader) text(variable, rule string) string {
	v := r.get(variable)
	if v.absent() {
		r.fault(variable, "missing", rule)
		return ""
	}
	text, ok := v.text()
	if !ok {
		r.fault(variable, v.describe(), rule)
	}
	return text
}

// whole reads a whole number from least to most, however it is written: FEEL makes no difference between 2 and 2.0. given is
// false where the variable is absent or at fault.
func (r *reader) whole(variable, rule string, least, most int64) (n int64, given bool) {
	v := r.get(variable)
	if v.absent() {
		return 0, false
	}
	number, err := strconv.ParseFloat(string(v), 64) // a text is still in its quotes: no number
	if err != nil || number != math.Trunc(number) || number < float64(least) || number > float64(most) {
		r.fault(variable, v.describe(), rule)
		return 0, false
	}
	return int64(number), true
}

// time reads what [retry.ParseRetryUntil] does; the zero time is none.
func (r *reader) time(variable string) time.Time {
	v := r.get(variable)
	if v.absent() {
		return time.Time{}
	}
	if text, ok := v.text(); ok {
		if t, ok := retry.ParseRetryUntil(text, r.zone); ok {
			return t
		}
	}
	r.fault(variable, v.describe(), retry.RuleTime)
	return time.Time{}
}

// outside reads a variable that another system wrote. It is never a fault of the job: what cannot be read is as if it were
// absent, and reason says why.
func outside[T any](r *reader, variable string, parse func(string, *time.Location) (T, retry.IgnoredReason)) (result T, reason retry.IgnoredReason) {
	v := r.get(variable)
	if v.absent() {
		return result, ""
	}
	text, ok := v.textOrNumber()
	if !ok {
		return result, retry.IgnoredType
	}
	return parse(text, r.zone)
}

// written reads a text that a person wrote, at most so many characters, and redacts it.
func (r *reader) written(variable, rule string, most int) string {
	text := r.text(variable, rule)
	switch n := utf8.RuneCountInString(text); {
	case r.faulty(variable):
	case n > most:
		r.fault(variable, "a text of "+strconv.Itoa(n)+" characters", rule)
	default:
		return strings.Clone(redact.Text(text))
	}
	return ""
}

// uuid reads a UUID; empty is none.
func (r *reader) uuid(variable, rule string) string {
	if r.get(variable).absent() {
		return ""
	}
	text := r.text(variable, rule)
	id, err := uuid.Parse(text)
	switch {
	case err == nil:
		return id.String()
	case !r.faulty(variable):
		r.fault(variable, retry.Shape(text), rule)
	}
	return ""
}
