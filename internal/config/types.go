package config

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Secret is a text that no formatting, logging or encoding shows. Convert it with string() to use it.
type Secret string

const mask = "***"

func (s Secret) masked() string {
	if s == "" {
		return ""
	}
	return mask
}

// String returns *** in place of the secret, or nothing where there is none.
func (s Secret) String() string { return s.masked() }

// GoString is String, for %#v.
func (s Secret) GoString() string { return strconv.Quote(s.masked()) }

// Format answers every verb, so that none (%x, %q, %d) gets past String.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.masked()
	if verb == 'q' || f.Flag('#') {
		text = strconv.Quote(text)
	}
	// A fmt.State's Write does not fail; Fprint's own writer reports later.
	_, _ = io.WriteString(f, text)
}

// MarshalText is String, for JSON, YAML and zap.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.masked()), nil }

// MarshalJSON is String, as a JSON text.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(strconv.Quote(s.masked())), nil }

// GCPercent is a garbage collector target as debug.SetGCPercent takes it: a percentage, or -1 for "off".
type GCPercent int

// Set reads GOGC's own notation; envconfig calls it.
func (p *GCPercent) Set(value string) error {
	if value == "off" {
		*p = -1
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return err
	}
	if n < 1 || n > 10000 {
		return errors.New("out of range")
	}
	*p = GCPercent(n)
	return nil
}

// String is GOGC's own notation.
func (p GCPercent) String() string {
	if p < 0 {
		return "off"
	}
	return strconv.Itoa(int(p))
}

// URL is a URL whose password no formatting, logging or encoding shows. Convert it with string() to use it.
type URL string

// String returns the URL with *** in place of a password, and only *** where it cannot be told where the password is.
func (u URL) String() string {
	if u == "" || u.Scheme() == "sqlite" {
		return string(u)
	}
	parts, err := splitURL(string(u))
	if err != nil {
		return mask
	}
	return parts.masked()
}

// GoString is String, for %#v.
func (u URL) GoString() string { return strconv.Quote(u.String()) }

// Format answers every verb, so that none (%x, %q, %d) gets past String.
func (u URL) Format(f fmt.State, verb rune) {
	text := u.String()
	if verb == 'q' || f.Flag('#') {
		text = strconv.Quote(text)
	}
	// A fmt.State's Write does not fail; Fprint's own writer reports later.
	_, _ = io.WriteString(f, text)
}

// MarshalText is String, for JSON, YAML and zap.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// Scheme is the URL's scheme, empty where it has none.
func (u URL) Scheme() string {
	scheme, _, found := strings.Cut(string(u), "://")
	if !found {
		return ""
	}
	return scheme
}

// Months is a span of calendar months, written as years (5y) or months (18m).
type Months int

// Set reads the notation; envconfig calls it.
func (m *Months) Set(value string) error {
	unit := 1
	digits, years := strings.CutSuffix(value, "y")
	if years {
		unit = 12
	} else if digits, _ = strings.CutSuffix(value, "m"); digits == value {
		return errors.New("no unit")
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return err
	}
	if n < 1 || int(n)*unit > 50*12 {
		return errors.New("out of range")
	}
	*m = Months(int(n) * unit)
	return nil
}

// String writes whole years as years.
func (m Months) String() string {
	if m%12 == 0 {
		return strconv.Itoa(int(m/12)) + "y"
	}
	return strconv.Itoa(int(m)) + "m"
}
