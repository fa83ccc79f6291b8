package config

import (
	"errors"
	"fmt"
	"io"
	"strconv"
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
