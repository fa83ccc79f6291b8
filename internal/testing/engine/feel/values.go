package feel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// TypeName returns what messages of a broker call the type of a value: NULL, BOOLEAN, NUMBER, STRING, ARRAY,
// OBJECT, DURATION or DATE_TIME.
func TypeName(v any) string {
	switch v.(type) {
	case nil:
		return "NULL"
	case bool:
		return "BOOLEAN"
	case Number, json.Number:
		return "NUMBER"
	case string:
		return "STRING"
	case []any:
		return "ARRAY"
	case map[string]any:
		return "OBJECT"
	case Duration:
		return "DURATION"
	}
	return "DATE_TIME"
}

// equal compares values of one type, or with null. Values of two types are neither equal nor unequal.
func equal(a, b any) any {
	if a != nil && b != nil && TypeName(a) != TypeName(b) {
		return nil
	}
	return same(a, b)
}

func same(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	case Number:
		b, ok := b.(Number)
		return ok && a.value.Cmp(b.value) == 0
	}
	return TypeName(a) == TypeName(b) && a == b
}

// units are the characters of a text as Java counts them.
func units(s string) []uint16 { return utf16.Encode([]rune(s)) }

// String returns what string(v) gives: a text, or nil for null. The keys of objects are sorted.
func String(v any) any {
	switch v.(type) {
	case nil, string:
		return v
	}
	var b strings.Builder
	describe(&b, v)
	return b.String()
}

func describe(b *strings.Builder, v any) {
	separator := ""
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case string:
		b.WriteString(`"` + v + `"`)
	case []any:
		b.WriteByte('[')
		for _, item := range v {
			b.WriteString(separator)
			describe(b, item)
			separator = ", "
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(separator + key + ":")
			describe(b, v[key])
			separator = ", "
		}
		b.WriteByte('}')
	default:
		fmt.Fprint(b, v)
	}
}

// ToJSON writes a value as that of a variable: date-times and durations become texts. It writes all that
// encoding/json does, and null for the rest.
func ToJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return []byte("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// FromJSON reads the value of a variable. What is no JSON is null.
func FromJSON(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if !json.Valid(text) || d.Decode(&v) != nil {
		return nil
	}
	return fromJSON(v)
}

// fromJSON leaves a number with an exponent as it came: nothing computes with it.
func fromJSON(v any) any {
	switch v := v.(type) {
	case json.Number:
		return cmp.Or(toNumber(v.String()), any(v))
	case []any:
		for i := range v {
			v[i] = fromJSON(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = fromJSON(v[key])
		}
	}
	return v
}

// Number is an exact decimal. The scale is how many digits are written after its point, as in Java: 1.50 equals
// 1.5, but is written otherwise.
type Number struct {
	value *big.Rat
	scale int
}

var numberText = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?([0-9]*)|\.([0-9]+))$`)

// toNumber reads a number; nil is none.
func toNumber(s string) any {
	m := numberText.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	value, _ := new(big.Rat).SetString(s)
	return Number{value, len(m[1] + m[2])}
}

func plus(a, b Number) Number {
	return Number{new(big.Rat).Add(a.value, b.value), max(a.scale, b.scale)}
}

func minus(a, b Number) Number {
	return Number{new(big.Rat).Sub(a.value, b.value), max(a.scale, b.scale)}
}

func times(a, b Number) Number { return Number{new(big.Rat).Mul(a.value, b.value), a.scale + b.scale} }

// int returns the number as Java's intValue does: without what is after the point, and the lowest 32 bits.
func (n Number) int() int {
	i := new(big.Int).Quo(n.value.Num(), n.value.Denom())
	return int(int32(i.Int64()))
}

// String returns the number with the digits of its scale.
func (n Number) String() string { return n.value.FloatString(n.scale) }

// MarshalJSON writes the number as JSON.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }

// Duration is a duration of days to seconds.
type Duration time.Duration

// From returns the time that is the duration after t.
func (d Duration) From(t time.Time) time.Time { return t.Add(time.Duration(d)) }

var durationText = regexp.MustCompile(
	`^(-?)P(?:(-?\d{1,4})D)?(?:T((?:-?\d{1,6}H)?(?:-?\d{1,7}M)?(?:-?\d{1,9}(?:\.\d{1,9})?S)?))?$`)

// ParseDuration reads a duration such as "PT5M" or "P1DT2H". It returns a Duration, or nil: years and months are
// none.
func ParseDuration(s string) any {
	m := durationText.FindStringSubmatch(s)
	if m == nil || strings.HasSuffix(s, "P") || strings.HasSuffix(s, "T") {
		return nil
	}
	days, _ := strconv.Atoi(m[2]) // 0 without days
	d, err := time.ParseDuration(strings.ToLower(m[3]) + "0s")
	if err != nil {
		return nil
	}
	d += time.Duration(days) * day
	if m[1] != "" {
		d = -d
	}
	return Duration(d)
}

// String returns the duration as Camunda's engine writes it: in whole seconds, and P0D if there are none.
func (d Duration) String() string {
	rest, s := time.Duration(math.Floor(time.Duration(d).Seconds()))*time.Second, "P"
	if rest == 0 {
		return "P0D"
	}
	if rest < 0 {
		rest, s = -rest, "-P"
	}
	if days := rest / day; days > 0 {
		s += fmt.Sprintf("%dD", days)
	}
	if rest %= day; rest > 0 {
		s += "T" + strings.ToUpper(noZeros.Replace(rest.String()))
	}
	return s
}

const day = 24 * time.Hour

// noZeros shortens 1h0m0s to 1h.
var noZeros = strings.NewReplacer("h0m0s", "h", "h0m", "h", "m0s", "m")

// MarshalText writes the duration as a text.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// DateTime is a date and time. Its zone is "Z" or like "@Europe/Berlin".
type DateTime struct {
	at   time.Time
	zone string
}

// Time returns the point in time.
func (t DateTime) Time() time.Time { return t.at }

// ParseDateTime reads a date and time such as "2026-11-24T09:00:00-03:00". It returns a DateTime or nil.
func ParseDateTime(s string) any {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return nil
	}
	return DateTime{at.UTC(), "Z"}
}

// String returns the date and time as Camunda's engine writes it: 2026-11-24T09:00:00@America/Sao_Paulo.
func (t DateTime) String() string { return t.at.Format("2006-01-02T15:04:05.999999999") + t.zone }

// MarshalText writes the date and time as a text.
func (t DateTime) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
