package retry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

// Settings are the numbers and rules of a policy. How they are written in a file, and those that come with
// the worker, are in package policy.
type Settings struct {
	// Name identifies the policy. It takes part in the jitter, so renaming a policy moves its retries.
	Name string
	// Base is the wait before the first retry, before jitter; each further wait is Factor times as long.
	// Factor is 1 or more.
	Base   time.Duration
	Factor float64
	// Min and Max bound every wait, jitter and hints included (RN-BIL-005 V3). Both are whole units of
	// Precision.
	Min, Max time.Duration
	// Jitter is how far a delay is spread to both sides, so that claims which failed together do not come
	// back together: 0.2 is 20 % (RN-BIL-005), 0 none. It is at most 1.
	Jitter float64
	// Precision is the unit of waits: time.Minute, time.Second or time.Millisecond.
	Precision time.Duration
	// MaxRetries is how often a claim is tried again (RN-BIL-005 V1), 0 to [RetriesCeiling]; a claim is
	// submitted once more than that.
	MaxRetries int
	// Deadline bounds all retries together: none is scheduled later than this after the first failure. 0
	// means no bound.
	Deadline time.Duration
	// Zone is the zone in which a time without a zone is read.
	Zone *time.Location `json:"-"`
	// IDs is the form that a claim id must have.
	IDs IDForm
	// Rules classify an error text: the first one that matches decides.
	Rules []Rule
	// Unknown is the class of a text that no rule matches.
	Unknown Class
	// AcceptEmptyError lets a blank error text be retried as UNKNOWN; otherwise it is invalid input
	// (RN-BIL-005 V4).
	AcceptEmptyError bool
	// JobOverrides lets a job's own variables max_attempts, retry_delay and max_retry_delay take the place of
	// MaxRetries, Base and Max.
	JobOverrides bool
	// InDoubt are the texts after which a submission may have reached its receiver all the same. They have no
	// Class.
	InDoubt []Rule
	// Targets are the KPIs that the policy is to reach. They decide nothing, so that they are not in the
	// version.
	Targets []Target `json:"-"`
}

// Policy decides which errors pass by themselves and how long to wait for that. It is made by
// [Policy.Extend] and never changed afterwards: Settings is for reading.
type Policy struct {
	Settings
	// rules and inDoubt are Settings.Rules and Settings.InDoubt, compiled. Policies that extend one another
	// share them.
	rules, inDoubt []compiledRule
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

// Fault is one thing that is wrong with a policy.
type Fault struct {
	// Setting is the field by its name in a policies file: base, jitter, contains, ...
	Setting string
	// Rule is the ID of the rule that the setting belongs to; empty for a setting of the policy itself.
	Rule string
	// Problem is what is wrong with it.
	Problem text.Message
}

// Faults are all that is wrong with a policy; nil for nothing.
type Faults []Fault

// Error names each setting and its problem.
func (f Faults) Error() string {
	var b strings.Builder
	for _, fault := range f {
		fmt.Fprintln(&b, fault.Setting, fault.Problem)
	}
	return strings.TrimSpace(b.String())
}

// Extend checks the settings and returns a policy of them with p's rules behind theirs; the zero policy has
// none. It shares p's compiled rules. Its error is [Faults].
func (p *Policy) Extend(s Settings) (*Policy, error) {
	wrong := s.faults()
	rules := wrong.compile(s.Rules, Transient, Permanent)
	inDoubt := wrong.compile(s.InDoubt, "")
	if wrong != nil {
		return nil, wrong
	}
	s.Rules, s.InDoubt = slices.Concat(s.Rules, p.Rules), slices.Concat(s.InDoubt, p.InDoubt)
	made := &Policy{Settings: s}
	made.rules, made.inDoubt = slices.Concat(rules, p.rules), slices.Concat(inDoubt, p.inDoubt)
	made.version = made.fingerprint()
	return made, nil
}

// add adds a fault if it is one.
func (f *Faults) add(wrong bool, rule, setting string, problem text.Message) {
	if wrong {
		*f = append(*f, Fault{Setting: setting, Rule: rule, Problem: problem})
	}
}

// compile compiles rules, each of which must have one of the classes.
func (f *Faults) compile(rules []Rule, classes ...Class) (compiled []compiledRule) {
	seen := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		f.add(!slices.Contains(classes, r.Class), r.ID, "class",
			text.Messagef("must be TRANSIENT or PERMANENT; a rule of inDoubt has none"))
		f.add(r.Team != "" && (r.Class != Permanent || !TeamForm.MatchString(r.Team)), r.ID, "team",
			text.Messagef("is %q but must be a word such as operations, 1 to 30 of a to z and -, "+
				"in a PERMANENT rule", r.Team))
		f.add(seen[r.ID], r.ID, "id", text.Messagef("is taken by another rule"))
		f.add(!validRuleID.MatchString(r.ID) || r.ID == RuleUnknown || r.ID == RuleEmpty, r.ID, "id",
			text.Messagef("is %q but must be letters, digits and . _ : / -, at most 100, "+
				"and neither unknown nor empty: decisions and the audit trail name their rule", r.ID))
		m := errtext.Compile(r.Condition, func(setting, problem string) {
			f.add(true, r.ID, setting, text.Messagef("%s", problem))
		})
		seen[r.ID] = true
		of := Classification{Class: r.Class, RuleID: r.ID, Team: r.Team, Label: r.Label()}
		compiled = append(compiled, compiledRule{m, of})
	}
	return compiled
}

// faults returns what is wrong with the policy but for its rules.
func (s *Settings) faults() (f Faults) {
	f.add(!validName.MatchString(s.Name), "", "name",
		text.Messagef("is %q but must be lower-case letters, digits and -, a letter first, at most 63",
			s.Name))
	unit := s.Precision
	known := unit == time.Minute || unit == time.Second || unit == time.Millisecond
	f.add(!known, "", "precision", text.Messagef("must be minute, second or millisecond"))
	f.add(known && (s.Min < unit || s.Min%unit != 0), "", "min",
		text.Messagef("is %s but must be whole units of precision, %s", span(s.Min), span(unit)))
	f.add(known && s.Max%unit != 0, "", "max",
		text.Messagef("is %s but must be whole units of precision, %s", span(s.Max), span(unit)))
	f.add(s.Max < s.Min || s.Max < s.Base || s.Max > maxWait, "", "max",
		text.Messagef("is %s but must be from %s, the longer of min and base, to %s",
			span(s.Max), span(max(s.Min, s.Base)), span(maxWait)))
	f.add(s.Base <= 0 || s.Base%time.Millisecond != 0, "", "base",
		text.Messagef("is %s but must be whole milliseconds, 1 or more", span(s.Base)))
	f.add(!(s.Factor >= 1 && s.Factor <= 1000), "", "factor",
		text.Messagef("is %s but must be from 1 to 1000", fmt.Sprint(s.Factor)))
	f.add(!(s.Jitter >= 0 && s.Jitter <= 1), "", "jitter",
		text.Messagef("is %s but must be from 0 to 1: 0.2 spreads a wait by a fifth to both sides",
			fmt.Sprint(s.Jitter)))
	f.add(s.MaxRetries < 0 || s.MaxRetries > RetriesCeiling, "", "maxRetries",
		text.Messagef("is %s but must be from 0 to 1000", fmt.Sprint(s.MaxRetries)))
	f.add(s.IDs != ClaimIDs && s.IDs != AnyIDs, "", "ids", text.Messagef("must be claim or any"))
	f.add(s.Unknown != Unknown && s.Unknown != Transient && s.Unknown != Permanent, "", "unknown",
		text.Messagef("must be UNKNOWN, TRANSIENT or PERMANENT"))
	for i, t := range s.Targets {
		again := func(o Target) bool { return o.KPI == t.KPI && o.Source == t.Source }
		f.add(slices.ContainsFunc(s.Targets[:i], again), "", "targets",
			text.Messagef("has %s twice from one source", t.KPI))
	}
	return f
}

// maxWait bounds Max: longer waits are no retries, and their sum must not overflow.
const maxWait = 366 * 24 * time.Hour

// Version returns a short hash of everything in the policy that can change a decision, overrides of a job
// included. Two decisions with the same name and version were made by the same policy.
func (p *Policy) Version() string { return p.version }

// fingerprint returns the hash of the settings, but for where rules come from, and of the tables that come
// with the program.
func (p *Policy) fingerprint() string {
	s := p.Settings
	s.Rules, s.InDoubt = slices.Concat(p.Rules, p.InDoubt), nil // these have no class
	for i := range s.Rules {
		s.Rules[i].Source = ""
	}
	return hash(s, p.Zone.String(), errtext.Version())
}

// hash returns a short hash of values by their JSON, which they all have.
func hash(values ...any) string {
	b, _ := json.Marshal(values)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}
