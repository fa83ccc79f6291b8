package input

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// reader reads the process variables of a job, or the headers of its task, and collects what is wrong with
// them.
type reader struct {
	// values are nil where there is no JSON object.
	values map[string]gjson.Result
	// headers reports whether they are task headers.
	headers bool
	faults  Faults
}

// read takes a JSON object apart; name is what a fault calls it. Of two values of one name the last one
// counts, as everywhere in JSON. What is JSON is left to encoding/json, which bounds how deep it is nested.
func read(name, object string) *reader {
	object = strings.ToValidUTF8(object, "\uFFFD")
	r := &reader{headers: name == "headers"}
	root := gjson.Parse(object)
	if !json.Valid([]byte(object)) || !root.IsObject() {
		r.faults = Faults{{Name: name, Value: text.Messagef("no JSON object"), Rule: ruleObject}}
		return r
	}
	r.values = map[string]gjson.Result{}
	root.ForEach(func(name, value gjson.Result) bool {
		r.values[name.Str] = value
		return true
	})
	return r
}

// identity returns the values of these names as they came. Which others a gateway sends along, and in which
// order, makes no difference.
func (r *reader) identity(names []string) []string {
	parts := make([]string, len(names), len(names)+2)
	for i, name := range names {
		parts[i] = r.values[name].Raw
	}
	return parts
}

// absent reports whether a value is missing or null, which Zeebe's expressions do not distinguish either.
func (r *reader) absent(name string) bool { return r.values[name].Type == gjson.Null }

func (r *reader) fault(name string, rule text.Message) {
	f := Fault{Name: name, Header: r.headers, Value: r.shown(name), Rule: rule}
	r.faults = append(r.faults, f)
}

// required reads a text by a function of its own. What that refuses is a fault, like what is no text at all.
func required[T any](r *reader, name string, rule text.Message, parse func(string) (T, bool)) (value T) {
	v, ok := r.values[name], false
	if v.Type == gjson.String {
		value, ok = parse(v.Str)
	}
	if !ok {
		r.fault(name, rule)
		return *new(T)
	}
	return value
}

// optional reads what may be absent as required does.
func optional[T any](r *reader, name string, rule text.Message, parse func(string) (T, bool)) (value T) {
	if r.absent(name) {
		return value
	}
	return required(r, name, rule, parse)
}

// sound reads a text of which something holds.
func sound(holds func(string) bool) func(string) (string, bool) {
	return func(s string) (string, bool) { return s, holds(s) }
}

// maxNumber is how long a number may be, in bytes; the longest that other systems write is shorter.
const maxNumber = 40

// whole reads a whole number from least to most, however it is written: FEEL makes no difference between 2
// and 2.0. given is false where it is absent or at fault.
func (r *reader) whole(name string, rule text.Message, least, most int64) (n int64, given bool) {
	if r.absent(name) {
		return 0, false
	}
	if raw := r.values[name].Raw; len(raw) <= maxNumber {
		number, ok := new(big.Rat).SetString(raw) // a text is still in its quotes: no number
		if ok && number.IsInt() && number.Num().IsInt64() {
			n = number.Num().Int64()
			given = least <= n && n <= most
		}
	}
	if !given {
		r.fault(name, rule)
		return 0, false
	}
	return n, true
}

// lenient reads a value that another system wrote. It is never a fault of the job: what cannot be read is
// noted and as if it were absent.
func lenient[T any](d *Decision, name string, parse func(string, *time.Location) (T, bool)) (value T) {
	ok := d.variables.absent(name)
	if v := d.variables.values[name]; v.Type == gjson.String || v.Type == gjson.Number {
		value, ok = parse(v.String(), d.Policy.Zone)
	}
	if !ok {
		d.Request.Ignored = append(d.Request.Ignored, name)
	}
	return value
}

const (
	// maxShown is how much of a text is shown, in characters.
	maxShown = 60
	// maxShownNumber keeps numbers that could identify a person out of messages: a birth date or a phone
	// number has 8 digits, an identity card 7. A count that is wrong, such as 2.5 or -1, is shown.
	maxShownNumber = 4
)

// shown returns what is there without repeating personal data: a short number as it stands, also in a text,
// and of any other text what redaction leaves of it. A header is a text of the model, not of a patient.
func (r *reader) shown(name string) text.Message {
	v := r.values[name]
	plain := v.String()
	_, err := strconv.ParseFloat(plain, 64)
	short := err == nil && len(plain) <= maxShownNumber
	switch {
	case r.absent(name):
		return text.Messagef("missing")
	case r.headers:
		return text.Messagef("%q", text.Shorten(plain, maxShown))
	case v.Type == gjson.String && retry.Blank(plain):
		return text.Messagef("blank")
	case v.Type == gjson.String && short:
		return text.Messagef("the text %q", plain)
	case v.Type == gjson.String:
		return text.Messagef("the text %q", text.Redacted(text.Shorten(redact.Text(plain), maxShown)))
	case v.IsObject():
		return text.Messagef("an object")
	case v.IsArray():
		return text.Messagef("a list")
	case v.Type == gjson.Number && len(v.Raw) > maxShownNumber:
		return text.Messagef("a number of %d characters", len(v.Raw))
	}
	return text.Messagef("%s", v.Raw)
}
