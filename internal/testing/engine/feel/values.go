package feel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

// TypeName returns what messages of a broker call the type of a value: NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT,
// DURATION or DATE_TIME.
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

// size returns about how large a value is, in bytes. It stops counting beyond the most.
func size(v any, most int) int {
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for i := 0; i < len(v) && n <= most; i++ {
			n += size(v[i], most-n)
		}
	case map[string]any:
		for key, item := range v {
			if n <= most {
				n += len(key) + size(item, most-n)
			}
		}
	}
	return n
}

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

// ToJSON writes a value as that of a variable: date-times and durations become texts. It writes all that encoding/json
// does, and null for the rest.
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

// fromJSON leaves a number with an exponent, or of many digits, as it came: nothing computes with it.
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
