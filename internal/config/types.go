package config

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/config/connurl"
)

// Secret is a text that no formatting, logging or encoding shows. Convert it with string() to use it.
type Secret string

const mask = "***"

// String returns *** in place of the secret, or nothing where there is none.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// Format writes what String returns for every verb, so that none (%x, %q, %d) shows the secret.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns String, for JSON, YAML and zap.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// URL is a URL whose password no formatting, logging or encoding shows. Convert it with string() to use it.
type URL string

// String returns the URL without what follows its ?, and with xxxxx in place of its password; only *** where
// it cannot be told where the password is.
func (u URL) String() string {
	if u == "" || strings.HasPrefix(string(u), "sqlite://") {
		return string(u)
	}
	parsed, err := connurl.Parse(string(u))
	if err != nil {
		return mask
	}
	parsed.RawQuery = ""
	return parsed.Redacted()
}

// Format writes what String returns for every verb, so that none (%x, %q, %d) shows the password.
func (u URL) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, u.String()) }

// MarshalText returns String, for JSON, YAML and zap.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// Zone is a time zone by its IANA name; the zero value is UTC.
type Zone struct{ *time.Location }

// Decode implements [envconfig.Decoder].
func (z *Zone) Decode(name string) (err error) {
	if name == "Local" {
		return errors.New("no IANA time zone")
	}
	z.Location, err = time.LoadLocation(name)
	return err
}

// JobTypes are the job types that are worked, each with the policy of tasks that name none; at least one.
type JobTypes map[string]string

// Decode implements [envconfig.Decoder]: TYPE=POLICY, several separated by commas, each type once. Outcomes
// are always worked, and by no policy.
func (t *JobTypes) Decode(value string) error {
	*t = JobTypes{}
	for one := range strings.SplitSeq(value, ",") {
		name, policy, _ := strings.Cut(strings.TrimSpace(one), "=")
		if name == "" || policy == "" || (*t)[name] != "" || name == "record-retry-outcome" {
			return errors.New("no TYPE=POLICY, a type twice, or one that has no policy")
		}
		(*t)[name] = policy
	}
	return nil
}

// String returns the notation that Decode reads, sorted.
func (t JobTypes) String() string {
	var texts []string
	for name, policy := range t {
		texts = append(texts, name+"="+policy)
	}
	slices.Sort(texts)
	return strings.Join(texts, ",")
}
