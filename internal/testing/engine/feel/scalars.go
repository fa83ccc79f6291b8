package feel

import (
	"cmp"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Number is an exact decimal. The scale is how many digits are written after its point, as in Java: 1.50 equals 1.5, but
// is written otherwise.
type Number struct {
	value *big.Rat
	scale int
}

const maxDigits = 36 // with the sign and the point: Java's engine rounds to 34

func whole(n int) Number { return Number{big.NewRat(int64(n), 1), 0} }

var numberText = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?([0-9]*)|\.([0-9]+))$`)

// toNumber reads a number; nil is none, or one of too many digits.
func toNumber(s string) any {
	m := numberText.FindStringSubmatch(s)
	if m == nil || len(s) > maxDigits {
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
	return int(int32(i.Int64())) //nolint:gosec // as in Java
}

// Int64 returns a whole number, and whether it is one of 64 bits.
func (n Number) Int64() (int64, bool) {
	return n.value.Num().Int64(), n.value.IsInt() && n.value.Num().IsInt64()
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

// ParseDuration reads a duration such as "PT5M" or "P1DT2H". It returns a Duration, or nil: years and months are none.
func ParseDuration(s string) any {
	m := durationText.FindStringSubmatch(s)
	if m == nil || strings.HasSuffix(s, "P") || strings.HasSuffix(s, "T") {
		return nil
	}
	days, _ := strconv.Atoi(cmp.Or(m[2], "0"))
	d, err := time.ParseDuration(strings.ToLower(m[3]) + "0s")
	if err != nil {
		return nil
	}
	d += time.Duration(days) * 24 * time.Hour
	if m[1] != "" {
		d = -d
	}
	return Duration(d)
}

// String returns the duration as Camunda's engine writes it: in whole seconds, and P0D if there are none.
func (d Duration) String() string {
	seconds := int(math.Floor(time.Duration(d).Seconds()))
	s := "P"
	for i, n := range []int{seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60} {
		if i == 1 {
			s += "T"
		}
		if n != 0 {
			s += strconv.Itoa(max(n, -n)) + "DHMS"[i:i+1]
		}
	}
	switch s = strings.TrimSuffix(s, "T"); {
	case s == "P":
		return "P0D"
	case seconds < 0:
		return "-" + s
	}
	return s
}

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
