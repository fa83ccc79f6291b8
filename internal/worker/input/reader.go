package input

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// notObject is the fault of variables that are no JSON object.
var notObject = &retry.InvalidInputError{Faults: []retry.Fault{{
	Variable: "variables", Value: text.Messagef("no JSON object"), Rule: text.Messagef("a JSON object of process variables"),
}}}

// reader reads variable after variable and collects what is wrong with them.
type reader struct {
	variables
	zone   *time.Location
	faults []retry.Fault
	// ignored are the variables that could not be read and are none of the faults.
	ignored []string
	// onExhausted and onPermanent are those of [Decision].
	onExhausted, onPermanent string
	// faultyHeader reports whether one of the faults is a header's.
	faultyHeader bool
}

func (r *reader) fault(variable string, value, rule text.Message) {
	r.faults = append(r.faults, retry.Fault{Variable: variable, Value: value, Rule: rule})
}

// err returns the error of all faults, in the order of the variables; nil where there is none.
func (r *reader) err(variables func() []string) *retry.InvalidInputError {
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
func (r *reader) text(variable string, rule text.Message) string {
	v := r.get(variable)
	if v.absent() {
		r.fault(variable, text.Messagef("missing"), rule)
		return ""
	}
	s, ok := v.text()
	if !ok {
		r.fault(variable, v.describe(), rule)
	}
	return s
}

// whole reads a whole number from least to most, however it is written: FEEL makes no difference between 2 and 2.0. given is
// false where the variable is absent or at fault.
func (r *reader) whole(variable string, rule text.Message, least, most int64) (n int64, given bool) {
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
	if s, ok := v.text(); ok {
		if t, ok := retry.ParseRetryUntil(s, r.zone); ok {
			return t
		}
	}
	r.fault(variable, v.describe(), retry.RuleTime)
	return time.Time{}
}

// outside reads a variable that another system wrote. It is never a fault of the job: what cannot be read is noted and
// as if it were absent.
func outside[T any](r *reader, variable string, parse func(string, *time.Location) (T, bool)) (result T) {
	v := r.get(variable)
	if v.absent() {
		return result
	}
	s, ok := v.textOrNumber()
	if ok {
		result, ok = parse(s, r.zone)
	}
	if !ok {
		r.ignored = append(r.ignored, variable)
	}
	return result
}

// written reads a text that a person wrote, at most so many characters.
func (r *reader) written(variable string, rule text.Message, most int) string {
	s := r.text(variable, rule)
	switch n := utf8.RuneCountInString(s); {
	case r.faulty(variable):
	case n > most:
		r.fault(variable, text.Messagef("a text of %d characters", n), rule)
	default:
		return strings.Clone(s)
	}
	return ""
}

// uuid reads a UUID; empty is none.
func (r *reader) uuid(variable string, rule text.Message) string {
	if r.get(variable).absent() {
		return ""
	}
	s := r.text(variable, rule)
	id, err := uuid.Parse(s)
	switch {
	case err == nil:
		return id.String()
	case !r.faulty(variable):
		r.fault(variable, retry.Shape(s), rule)
	}
	return ""
}

// variables are the process variables of a job as they came; nil where they are no JSON object.
//
// They are taken apart here because it is done for every job and encoding/json needs five times as long for it, into a
// map, or matches the fields of a struct regardless of case, which process variables are not. What is JSON and what a
// value says is left to encoding/json.
type variables []variable

type variable struct {
	name  string
	value value
}

// value is the JSON of a variable, a part of the job's text; empty where there is no such variable.
type value string

// parse takes the variables of a job apart.
func parse(object string) variables {
	if !json.Valid([]byte(object)) {
		return nil
	}
	s := strings.TrimLeft(object, space)
	if s[0] != '{' {
		return nil
	}
	v := make(variables, 0, 8)
	rest := strings.TrimLeft(s[1:], space)
	for rest[0] != '}' {
		if rest[0] == ',' {
			rest = strings.TrimLeft(rest[1:], space)
		}
		end := endOfString(rest)
		name, _ := value(rest[:end]).text()
		rest = strings.TrimLeft(rest[end:], space)[1:] // after the colon
		rest = strings.TrimLeft(rest, space)
		end = endOfValue(rest)
		v = append(v, variable{name, value(rest[:end])})
		rest = strings.TrimLeft(rest[end:], space)
	}
	return v
}

const space = " \t\r\n"

// get returns a variable. Of two with the same name the last one counts, as everywhere in JSON.
func (v variables) get(name string) value {
	for _, one := range slices.Backward(v) {
		if one.name == name {
			return one.value
		}
	}
	return ""
}

// endOfString returns the length of the JSON string that the text, which is valid JSON, begins with.
func endOfString(s string) int {
	for i := 1; ; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// endOfValue returns the length of the value that the text, which is valid JSON inside of an object, begins with.
func endOfValue(s string) int {
	switch s[0] {
	case '"':
		return endOfString(s)
	case '{', '[':
	default:
		return strings.IndexAny(s, ",}"+space)
	}
	for i, depth := 0, 0; ; i++ {
		switch s[i] {
		case '"':
			i += endOfString(s[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// absent reports whether a variable is missing or null, which Zeebe's expressions do not distinguish either.
func (v value) absent() bool { return v == "" || v == "null" }

// text returns what a JSON string says; ok is false for any other value.
func (v value) text() (plain string, ok bool) {
	if v == "" || v[0] != '"' {
		return "", false
	}
	if plain = string(v[1 : len(v)-1]); strings.IndexByte(plain, '\\') < 0 && utf8.ValidString(plain) {
		return plain, true
	}
	var s string // not the result: it is on the heap
	if err := json.Unmarshal([]byte(v), &s); err != nil {
		panic("input: a valid JSON string cannot be read: " + err.Error()) // cannot happen
	}
	return s, true
}

// textOrNumber returns what a JSON string says, and a JSON number without an exponent; ok is false for any other value.
func (v value) textOrNumber() (s string, ok bool) {
	switch {
	case v[0] == '"':
		return v.text()
	case v[0] != '-' && (v[0] < '0' || v[0] > '9'):
		return "", false
	case strings.ContainsAny(string(v), "eE"):
		number, _ := strconv.ParseFloat(string(v), 64) // too large is infinite: a text that is no number
		return strconv.FormatFloat(number, 'f', -1, 64), true
	default:
		return string(v), true
	}
}

// maxShownNumber keeps numbers that could identify a person out of messages: a birth date or a phone number has 8 digits,
// an identity card 7. A count that is wrong, such as 2.5 or -1, is shown.
const maxShownNumber = 4

// describe returns what a variable holds without repeating personal data.
func (v value) describe() text.Message {
	switch v[0] {
	case '"':
		s, _ := v.text()
		return text.Messagef("the text %s", retry.Shape(s))
	case '{':
		return text.Messagef("an object")
	case '[':
		return text.Messagef("a list")
	case 't', 'f', 'n':
	default:
		if len(v) > maxShownNumber {
			return text.Messagef("a number of %d characters", len(v))
		}
	}
	return text.Messagef("%s", string(v))
}
