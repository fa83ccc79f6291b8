package retry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/text"
)

// Settings are the numbers and rules of a policy. How they are written in a file, and those that come with the worker, are
// in package policy.
type Settings struct {
	// Name identifies the policy. It takes part in the jitter, so renaming a policy moves its retries.
	Name string
	// Base is the wait before the first retry, before jitter; each further wait is Factor times as long. Factor is 1 or
	// more.
	Base   time.Duration
	Factor float64
	// Min and Max bound every wait, jitter and hints included (RN-BIL-005 V3). Both are whole units of Precision.
	Min, Max time.Duration
	// Jitter is how far a delay is spread to both sides, so that claims which failed together do not come back together: 0.2
	// is 20 % (RN-BIL-005), 0 none. It is at most 1.
	Jitter float64
	// Precision is the unit of waits: time.Minute, time.Second or time.Millisecond.
	Precision time.Duration
	// MaxRetries is how often a claim is tried again (RN-BIL-005 V1), 0 to [RetriesCeiling]; a claim is submitted once more
	// than that.
	MaxRetries int
	// Deadline bounds all retries together: none is scheduled later than this after the first failure. 0 means no bound.
	Deadline time.Duration
	// Zone is the zone in which a time without a zone is read.
	Zone *time.Location `json:"-"`
	// IDs is the form that a claim id must have.
	IDs IDForm
	// Rules classify an error text: the first one that matches decides.
	Rules []Rule
	// Unknown is the class of a text that no rule matches.
	Unknown Class
	// AcceptEmptyError lets a blank error text be retried as UNKNOWN; otherwise it is invalid input (RN-BIL-005 V4).
	AcceptEmptyError bool
	// JobOverrides lets a job's own variables max_attempts, retry_delay and max_retry_delay take the place of MaxRetries,
	// Base and Max.
	JobOverrides bool
	// InDoubt are the texts after which a submission may have reached its receiver all the same. They have no
	// Class.
	InDoubt []Rule
	// Targets are the KPIs that the policy is to reach. They decide nothing, so that they are not in the version.
	Targets []Target `json:"-"`
}

// Policy decides which errors pass by themselves and how long to wait for that. It is made by [New] or
// [Policy.Extend] and never changed afterwards: Settings is for reading.
type Policy struct {
	Settings
	// rules and inDoubt are Settings.Rules and Settings.InDoubt, compiled. Policies that extend one another share them.
	rules, inDoubt []*evidence.Matcher
	version        string
	// overrides is what [Policy.With] has changed.
	overrides Overrides
}

// RetriesCeiling is the largest limit of retries. A claim that was tried a thousand times needs a person.
const RetriesCeiling = 1000

// Names of policies and rules stand in labels of metrics, logs and records.
var (
	validName   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	validRuleID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$`)
)

// SettingError is one fault of a policy.
type SettingError struct {
	// Setting is the field by its name in a policies file: base, jitter, contains, ...
	Setting string
	// Rule is the ID of the rule that the setting belongs to; empty for a setting of the policy itself.
	Rule string
	// Problem is what is wrong with it.
	Problem text.Message
}

// Error names the rule, the setting and the problem.
func (e *SettingError) Error() string {
	if e.Rule != "" {
		return "rule " + e.Rule + ": " + e.Setting + " " + e.Problem.String()
	}
	return e.Setting + " " + e.Problem.String()
}

// New checks the settings and returns their policy. Its error joins a [*SettingError] for each fault.
func New(s Settings) (*Policy, error) { return (&Policy{}).Extend(s) }

// Extend returns a policy of the settings with p's rules behind theirs. It shares p's compiled rules. The error is as with [New].
func (p *Policy) Extend(s Settings) (*Policy, error) {
	rules, ofRules := compile(s.Rules, false)
	inDoubt, ofInDoubt := compile(s.InDoubt, true)
	if err := errors.Join(slices.Concat(s.faults(), ofRules, ofInDoubt)...); err != nil {
		return nil, err
	}
	s.Rules, s.InDoubt = slices.Concat(s.Rules, p.Rules), slices.Concat(s.InDoubt, p.InDoubt)
	made := &Policy{Settings: s, rules: slices.Concat(rules, p.rules), inDoubt: slices.Concat(inDoubt, p.inDoubt)}
	made.version = made.fingerprint()
	return made, nil
}

// compile compiles rules, of which those of inDoubt have no class. It returns all faults of them.
func compile(rules []Rule, inDoubt bool) (compiled []*evidence.Matcher, faults []error) {
	seen := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		fault := func(wrong bool, setting string, problem text.Message) {
			if wrong {
				faults = append(faults, &SettingError{Rule: r.ID, Setting: setting, Problem: problem})
			}
		}
		fault(!inDoubt && r.Class != Transient && r.Class != Permanent, "class", text.Messagef("must be TRANSIENT or PERMANENT"))
		fault(inDoubt && r.Class != "", "class", text.Messagef("is not for inDoubt"))
		fault(seen[r.ID], "id", text.Messagef("is taken by another rule"))
		seen[r.ID] = true
		fault(!validRuleID.MatchString(r.ID) || r.ID == RuleUnknown || r.ID == RuleEmpty, "id",
			text.Messagef("is %q but must be letters, digits and . _ : / -, at most 100, "+
				"and neither unknown nor empty: decisions and the audit trail name their rule", r.ID))
		m, wrong := evidence.Compile(r.Condition)
		for _, f := range wrong {
			fault(true, f.Setting, text.Messagef("%s", f.Problem))
		}
		compiled = append(compiled, m)
	}
	return compiled, faults
}

// faults returns the invalid numbers of the policy.
func (s *Settings) faults() (faults []error) {
	fault := func(wrong bool, setting string, problem text.Message) {
		if wrong {
			faults = append(faults, &SettingError{Setting: setting, Problem: problem})
		}
	}
	fault(!validName.MatchString(s.Name), "name", text.Messagef("is %q but must be lower-case letters, digits and -, a letter first, at most 63", s.Name))
	if unit, known := units[s.Precision]; known {
		fault(s.Min < s.Precision, "min", text.Messagef("is %s but must be at least one %s, the precision", span(s.Min), unit))
		fault(s.Min%s.Precision != 0, "min", text.Messagef("is %s but must be whole %ss, the precision", span(s.Min), unit))
		fault(s.Max%s.Precision != 0, "max", text.Messagef("is %s but must be whole %ss, the precision", span(s.Max), unit))
	} else {
		fault(true, "precision", text.Messagef("must be minute, second or millisecond"))
	}
	fault(s.Base <= 0 || s.Base%time.Millisecond != 0, "base", text.Messagef("is %s but must be whole milliseconds, 1 or more", span(s.Base)))
	fault(s.Max < s.Min, "max", text.Messagef("is %s but must not be less than min, %s", span(s.Max), span(s.Min)))
	fault(s.Max < s.Base, "max", text.Messagef("is %s but must not be less than base, %s", span(s.Max), span(s.Base)))
	fault(s.Max > maxWait, "max", text.Messagef("is %s but must be at most %s", span(s.Max), span(maxWait)))
	fault(math.IsNaN(s.Factor) || s.Factor < 1 || s.Factor > 1000, "factor", text.Messagef("is %s but must be from 1 to 1000", strconv.FormatFloat(s.Factor, 'g', -1, 64)))
	fault(!(s.Jitter >= 0 && s.Jitter <= 1), "jitter", text.Messagef("is %s but must be from 0 to 1: 0.2 spreads a wait by a fifth to both sides", strconv.FormatFloat(s.Jitter, 'g', -1, 64)))
	fault(s.MaxRetries < 0 || s.MaxRetries > RetriesCeiling, "maxRetries", text.Messagef("is %s but must be from 0 to %s", strconv.Itoa(s.MaxRetries), strconv.Itoa(RetriesCeiling)))
	fault(s.Deadline < 0, "deadline", text.Messagef("is %s but must not be negative", span(s.Deadline)))
	fault(s.Zone == nil, "timeZone", text.Messagef("is missing"))
	fault(s.IDs != ClaimIDs && s.IDs != AnyIDs, "ids", text.Messagef("must be claim or any"))
	fault(s.Unknown != Unknown && s.Unknown != Transient && s.Unknown != Permanent, "unknown", text.Messagef("must be UNKNOWN, TRANSIENT or PERMANENT"))
	for i, t := range s.Targets {
		again := func(o Target) bool { return o.KPI == t.KPI && o.Source == t.Source }
		fault(slices.ContainsFunc(s.Targets[:i], again), "targets", text.Messagef("has %s twice from one source", t.KPI))
	}
	return faults
}

// maxWait bounds Max: longer waits are no retries, and their sum must not overflow.
const maxWait = 366 * 24 * time.Hour

// units are the values of Precision by name.
var units = map[time.Duration]text.Message{
	time.Minute: text.Messagef("minute"), time.Second: text.Messagef("second"), time.Millisecond: text.Messagef("millisecond"),
}

// Version returns a short hash of everything in the policy that can change a decision, overrides of a job included. Two
// decisions with the same name and version were made by the same policy.
func (p *Policy) Version() string { return p.version }

// fingerprint returns the hash of the settings, but for where rules come from, and of the tables that come with the program.
func (p *Policy) fingerprint() string {
	s := p.Settings
	s.Rules, s.InDoubt = slices.Concat(p.Rules, p.InDoubt), nil // these have no class
	for i := range s.Rules {
		s.Rules[i].Source = ""
	}
	var tables []string
	for _, t := range evidence.Tables() {
		tables = append(tables, t.Version)
	}
	return hash(s, p.Zone.String(), tables)
}

// hash returns a short hash of values by their JSON, which they all have.
func hash(values ...any) string {
	b, _ := json.Marshal(values)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}
