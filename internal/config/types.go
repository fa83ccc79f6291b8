package config

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/connurl"
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
func (s Secret) Format(f fmt.State, verb rune) { formatMasked(f, verb, s.String()) }

// MarshalText returns String, for JSON, YAML and zap.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func formatMasked(f fmt.State, verb rune, text string) {
	if verb == 'q' || f.Flag('#') {
		text = strconv.Quote(text)
	}
	_, _ = io.WriteString(f, text) // a fmt.State's Write does not fail; Fprint's own writer reports later
}

// URL is a URL whose password no formatting, logging or encoding shows. Convert it with string() to use it.
type URL string

// String returns the URL with *** in place of a password, and only *** where it cannot be told where the
// password is.
func (u URL) String() string {
	if u == "" || strings.HasPrefix(string(u), "sqlite://") {
		return string(u)
	}
	parts, err := connurl.Parse(string(u))
	if err != nil {
		return mask
	}
	return parts.String()
}

// Format writes what String returns for every verb, so that none (%x, %q, %d) shows the password.
func (u URL) Format(f fmt.State, verb rune) { formatMasked(f, verb, u.String()) }

// MarshalText returns String, for JSON, YAML and zap.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// Zone is a time zone by its IANA name; the zero value is UTC.
type Zone struct{ *time.Location }

// Decode implements [envconfig.Decoder].
func (z *Zone) Decode(name string) (err error) {
	z.Location, err = time.LoadLocation(name)
	if name == "Local" {
		err = errors.New("no zone of its own")
	}
	return err
}

// JobType is a job type that is worked, with the policy of tasks that name none.
type JobType struct{ Type, Policy string }

// JobTypes are the job types that are worked, in their order; at least one.
type JobTypes []JobType

// outcomeJobType is always worked, and by no policy.
const outcomeJobType = "record-retry-outcome"

// Decode implements [envconfig.Decoder]: TYPE=POLICY, several separated by commas, each type once.
func (t *JobTypes) Decode(value string) error {
	var read JobTypes
	seen := map[string]bool{outcomeJobType: true}
	for one := range strings.SplitSeq(value, ",") {
		name, policy, _ := strings.Cut(one, "=")
		name, policy = strings.TrimSpace(name), strings.TrimSpace(policy)
		if name == "" || policy == "" || seen[name] {
			return errors.New("no TYPE=POLICY, a type twice, or one that has no policy")
		}
		seen[name] = true
		read = append(read, JobType{name, policy})
	}
	*t = read
	return nil
}

// String returns the notation that Decode reads.
func (t JobTypes) String() string {
	texts := make([]string, len(t))
	for i, one := range t {
		texts[i] = one.Type + "=" + one.Policy
	}
	return strings.Join(texts, ",")
}
