package config

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

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

// String returns the URL with *** in place of a password, and only *** where it cannot be told where the password is.
func (u URL) String() string {
	if u == "" || u.Scheme() == "sqlite" {
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

// Scheme returns the URL's scheme, empty where it has none.
func (u URL) Scheme() string {
	if scheme, _, found := strings.Cut(string(u), "://"); found {
		return scheme
	}
	return ""
}

// Months is a span of calendar months, written as years (5y) or months (18m), or unlimited.
type Months int

// Unlimited is longer than any record is old. mostMonths is the longest span that can be given as a number.
const (
	Unlimited  Months = 2 * mostMonths
	mostMonths        = 50 * 12
)

// Decode implements [envconfig.Decoder].
func (m *Months) Decode(value string) error {
	if value == "unlimited" {
		*m = Unlimited
		return nil
	}
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
	if n < 1 || int(n)*unit > mostMonths {
		return errors.New("out of range")
	}
	*m = Months(int(n) * unit)
	return nil
}

// String returns whole years as years.
func (m Months) String() string {
	if m == Unlimited {
		return "unlimited"
	}
	if m%12 == 0 {
		return strconv.Itoa(int(m/12)) + "y"
	}
	return strconv.Itoa(int(m)) + "m"
}

// JobType is a job type that is worked, with the policy of tasks that name none.
type JobType struct{ Type, Policy string }

// JobTypes are the job types that are worked, in their order; at least one.
type JobTypes []JobType

// outcomeJobType is always worked, and by no policy.
const outcomeJobType = "record-retry-outcome"

// Decode implements [envconfig.Decoder]: TYPE=POLICY, several separated by commas.
func (t *JobTypes) Decode(value string) error {
	var read JobTypes
	for one := range strings.SplitSeq(value, ",") {
		name, policy, found := strings.Cut(strings.TrimSpace(one), "=")
		name, policy = strings.TrimSpace(name), strings.TrimSpace(policy)
		if !found || name == "" || policy == "" || len(name) > 255 || !printable(name) || name == outcomeJobType {
			return errors.New("no TYPE=POLICY, or a type that has no policy")
		}
		for _, other := range read {
			if other.Type == name {
				return errors.New("a type stands twice")
			}
		}
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
