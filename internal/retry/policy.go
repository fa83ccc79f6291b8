package retry

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Policy says which errors pass by themselves and how long to wait for that. It is made by [New] and read-only then; the
// policies that come with the worker, and how they are written down, are in package policy.
type Policy struct {
	// Name tells policies apart. It takes part in the jitter, so renaming a policy moves its retries.
	Name string
	// Base is the wait before the first retry, before jitter; each further wait is Factor times as long. Factor is 1 or
	// more.
	Base   time.Duration
	Factor float64
	// Min and Max bound every wait, jitter and hints included (RN-BIL-005 V3). Both are whole units of Precision.
	Min, Max time.Duration
	Jitter   Jitter
	// Precision is the unit in which waits are told: time.Minute, time.Second or time.Millisecond.
	Precision time.Duration
	// MaxRetries is how often a claim is tried again (RN-BIL-005 V1), 0 to [RetriesCeiling]; a claim is submitted once more
	// than that.
	MaxRetries int
	// Deadline bounds all retries together: none is scheduled later than this after the first failure. 0 means no bound.
	Deadline time.Duration
	// Zone is the zone in which a time without a zone is read.
	Zone *time.Location
	// IDs is the form that a claim id must have.
	IDs IDForm
	// Rules classify an error text. Permanent rules are asked before all others, then the order of the list holds.
	Rules []Rule
	// Unknown is the class of a text that no rule matches.
	Unknown Class
	// AcceptEmptyError lets a blank error text be retried as UNKNOWN; otherwise it is invalid input (RN-BIL-005 V4).
	AcceptEmptyError bool
	// JobOverrides lets a job's own variables max_attempts, retry_delay and max_retry_delay take the place of MaxRetries,
	// Base and Max.
	JobOverrides bool
	// InDoubt are the texts after which a submission may have reached its receiver all the same. Their Class is not
	// used.
	InDoubt []Rule

	version string
	// overrides is what [Policy.With] has changed.
	overrides Overrides
}

// RetriesCeiling is the largest limit of retries. A claim that was tried a thousand times needs a person.
const RetriesCeiling = 1000

// SettingError is one thing that is wrong with a policy.
type SettingError struct {
	// Setting is the field by its name in a policies file: base, jitter, pattern, ...
	Setting string
	// Rule is the ID of the rule that the setting belongs to; empty for a setting of the policy itself.
	Rule string
	// Problem says what is wrong with it.
	Problem string
}

// Error names the rule, the setting and the problem.
func (e *SettingError) Error() string {
	if e.Rule != "" {
		return "rule " + e.Rule + ": " + e.Setting + " " + e.Problem
	}
	return e.Setting + " " + e.Problem
}

// New checks a policy, makes it ready for use and returns it. Its error joins a [*SettingError] for each thing that is
// wrong.
func New(p Policy) (*Policy, error) {
	p.Rules = append([]Rule(nil), p.Rules...)
	p.InDoubt = append([]Rule(nil), p.InDoubt...)
	faults := p.faults()
	for i := range p.Rules {
		r := &p.Rules[i]
		if r.Class != Transient && r.Class != Permanent {
			faults = append(faults, &SettingError{Rule: r.ID, Setting: "class", Problem: "must be TRANSIENT or PERMANENT"})
		}
	}
	var all []*Rule
	for _, rules := range [][]Rule{p.Rules, p.InDoubt} {
		for i := range rules {
			faults = append(faults, rules[i].compile()...)
			all = append(all, &rules[i])
		}
	}
	faults = append(faults, placements(all)...)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	p.version = p.fingerprint()
	return &p, nil
}

// faults are the numbers of the policy that make no sense.
func (p *Policy) faults() (faults []error) {
	fault := func(wrong bool, setting, problem string, args ...any) {
		if wrong {
			faults = append(faults, &SettingError{Setting: setting, Problem: fmt.Sprintf(problem, written(args)...)})
		}
	}
	fault(p.Name == "", "name", "is missing")
	switch p.Precision {
	case time.Minute, time.Second, time.Millisecond:
		fault(p.Min < p.Precision, "min", "is %v but must be at least one %s, the precision", p.Min, unit(p.Precision))
		fault(p.Min%p.Precision != 0, "min", "is %v but must be whole %ss, the precision", p.Min, unit(p.Precision))
		fault(p.Max%p.Precision != 0, "max", "is %v but must be whole %ss, the precision", p.Max, unit(p.Precision))
	default:
		fault(true, "precision", "must be minute, second or millisecond")
	}
	fault(p.Base <= 0 || p.Base%time.Millisecond != 0, "base", "is %v but must be whole milliseconds, 1 or more", p.Base)
	fault(p.Max < p.Min, "max", "is %v but must not be less than min, %v", p.Max, p.Min)
	fault(p.Max < p.Base, "max", "is %v but must not be less than base, %v", p.Max, p.Base)
	fault(p.Max > maxWait, "max", "is %v but must be at most %v", p.Max, maxWait)
	fault(math.IsNaN(p.Factor) || p.Factor < 1 || p.Factor > 1000, "factor", "is %v but must be from 1 to 1000", p.Factor)
	fault(!p.Jitter.valid(), "jitter", "must have a mode of proportional, full, equal, decorrelated or none, and a share from 0 to 1 with proportional only")
	fault(p.MaxRetries < 0 || p.MaxRetries > RetriesCeiling, "maxRetries", "is %d but must be from 0 to %d", p.MaxRetries, RetriesCeiling)
	fault(p.Deadline < 0, "deadline", "is %v but must not be negative", p.Deadline)
	fault(p.Zone == nil, "timeZone", "is missing")
	fault(p.IDs != ClaimIDs && p.IDs != AnyIDs, "ids", "must be claim or any")
	fault(p.Unknown != Unknown && p.Unknown != Transient && p.Unknown != Permanent, "unknown", "must be UNKNOWN, TRANSIENT or PERMANENT")
	return faults
}

// maxWait bounds Max: longer waits are no retries, and their sum must not overflow.
const maxWait = 366 * 24 * time.Hour

func unit(precision time.Duration) string {
	switch precision {
	case time.Minute:
		return "minute"
	case time.Second:
		return "second"
	default:
		return "millisecond"
	}
}

// Version is a short hash of everything in the policy that can change a decision, overrides of a job included. Two
// decisions with the same name and version were made by the same policy.
func (p *Policy) Version() string { return p.version }

func (p *Policy) fingerprint() string {
	var b strings.Builder
	fmt.Fprintln(&b, p.Name, p.Base, p.Factor, p.Min, p.Max, p.Jitter.Mode, p.Jitter.Share, p.Precision, p.MaxRetries, p.Deadline,
		p.Zone, p.IDs, p.Unknown, p.AcceptEmptyError, p.JobOverrides)
	for _, rules := range [][]Rule{p.Rules, p.InDoubt} {
		fmt.Fprintln(&b, len(rules))
		for _, r := range rules {
			fmt.Fprintf(&b, "%q %q %q %q %q %q\n", r.ID, r.Class, r.Contains, r.Codes, r.Pattern, r.Unless)
		}
	}
	return shortHash(b.String())
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
