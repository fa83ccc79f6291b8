package feel

import "time"

// Duration is a shim.
type Duration struct{ d any }

// From is.
func (d Duration) From(t time.Time) time.Time {
	switch v := d.d.(type) {
	case time.Duration:
		return t.Add(v)
	case Period:
		return t.AddDate(0, int(v.Months), 0)
	}
	return t
}

// ParseDuration is.
func ParseDuration(s string) any {
	if v := parseDurationRaw(s); v != nil {
		return Duration{v}
	}
	return nil
}

func unwrap(v any) any {
	if d, ok := v.(Duration); ok {
		return d.d
	}
	return v
}

// Eval is.
func (e *Expr) Eval(now time.Time, variables Variables) any {
	switch v := e.evalRaw(now, variables).(type) {
	case time.Duration, Period:
		return Duration{v}
	default:
		return v
	}
}

// String is.
func String(v any) any { return stringRaw(unwrap(v)) }

// ToJSON is.
func ToJSON(v any) []byte { return toJSONRaw(unwrap(v)) }

// TypeName is.
func TypeName(v any) string {
	switch v.(type) {
	case nil:
		return "NULL"
	case bool:
		return "BOOLEAN"
	case string:
		return "STRING"
	case int64, float64:
		return "NUMBER"
	case []any:
		return "ARRAY"
	case map[string]any:
		return "OBJECT"
	case Duration:
		return "DURATION"
	}
	return "DATE_TIME"
}
