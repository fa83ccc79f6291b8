package retry

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

// Settings are a policy as a file states it. Those that come with the worker, and how one inherits from
// another, are in package policy.
type Settings struct {
	// Name identifies the policy. It takes part in the jitter, so renaming a policy moves its retries.
	Name string `yaml:"name" json:"name"`
	// Description and Source are for people. Extends names the policy that this one inherits from.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	Source      string `yaml:"source,omitempty" json:"source,omitempty"`
	Extends     string `yaml:"extends,omitempty" json:"extends,omitempty"`
	// Base is the wait before the first retry, before jitter; each further wait is Factor times as long.
	// Factor is 1 or more.
	Base   Duration `yaml:"base,omitempty" json:"base,omitempty"`
	Factor float64  `yaml:"factor,omitempty" json:"factor,omitempty"`
	// Min and Max bound every wait, jitter and hints included (RN-BIL-005 V3). Both are whole units of
	// Precision. Min is one unit where it is 0.
	Min Duration `yaml:"min,omitempty" json:"min,omitempty"`
	Max Duration `yaml:"max,omitempty" json:"max,omitempty"`
	// Jitter is how far a delay is spread to both sides, so that claims which failed together do not come
	// back together: 0.2 is 20 % (RN-BIL-005), 0 none. It is at most 1, and below 0 where none is stated.
	Jitter float64 `yaml:"jitter" json:"jitter"`
	// Precision is the unit of waits: minute, second or millisecond.
	Precision string `yaml:"precision,omitempty" json:"precision,omitempty"`
	// MaxRetries is how often a claim is tried again (RN-BIL-005 V1), 0 to [RetriesCeiling]; a claim is
	// submitted once more than that.
	MaxRetries int `yaml:"maxRetries" json:"maxRetries"`
	// Deadline bounds all retries together: none is scheduled later than this after the first failure. 0
	// means no bound.
	Deadline Duration `yaml:"deadline,omitempty" json:"deadline,omitempty"`
	// TimeZone is the zone in which a time without a zone is read, other than that of the machine. Zone is
	// what the machine knows of it, which the rule cannot look up.
	TimeZone string         `yaml:"timeZone,omitempty" json:"timeZone,omitempty"`
	Zone     *time.Location `yaml:"-" json:"-"`
	// IDs is the form that a claim id must have.
	IDs IDForm `yaml:"ids,omitempty" json:"ids,omitempty"`
	// Unknown is the class of a text that no rule matches.
	Unknown Class `yaml:"unknown,omitempty" json:"unknown,omitempty"`
	// OnEmptyError is what becomes of a blank error text: it is invalid input (RN-BIL-005 V4) or retried.
	OnEmptyError OnEmptyError `yaml:"onEmptyError,omitempty" json:"onEmptyError,omitempty"`
	// JobOverrides lets a job's own variables max_attempts, retry_delay and max_retry_delay take the place of
	// MaxRetries, Base and Max.
	JobOverrides bool `yaml:"jobOverrides" json:"jobOverrides"`
	// Targets are the KPIs that the policy is to reach. They decide nothing, so that they are not in the
	// version.
	Targets []Target `yaml:"targets,omitempty" json:"targets,omitempty"`
	// Rules classify an error text: the first one that matches decides.
	Rules []Rule `yaml:"rules,omitempty" json:"rules,omitempty"`
	// InDoubt are the texts after which a submission may have reached its receiver all the same. They have no
	// Class.
	InDoubt []Rule `yaml:"inDoubt,omitempty" json:"inDoubt,omitempty"`
}

// OnEmptyError is what becomes of a blank error text.
type OnEmptyError string

// What can become of it.
const (
	RejectEmptyError  OnEmptyError = "reject"
	UnknownEmptyError OnEmptyError = "unknown"
)

// precisions are the values of precision.
var precisions = map[string]time.Duration{
	"minute":      time.Minute,
	"second":      time.Second,
	"millisecond": time.Millisecond,
}

// Policy decides which errors pass by themselves and how long to wait for that. It is made by
// [Policy.Extend] and never changed afterwards: Settings is for reading.
type Policy struct {
	Settings
	// unit is the length of Precision.
	unit    time.Duration
	version string
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

// faults are all that is wrong with a policy; nil for nothing.
type faults text.Findings

// add adds a fault of a setting if it is one: of the policy itself, or of the rule with this id.
func (f *faults) add(wrong bool, rule, setting string, problem text.Message) {
	if wrong {
		what := text.Messagef("%q %s", setting, problem)
		*f = append(*f, text.Finding{Severity: text.Error, Check: setting, Name: rule, What: what})
	}
}

// Extend checks the settings and returns a policy of them with p's rules behind theirs; the zero policy has
// none. Its error is [text.Findings]: in each Check is the setting, by its name in a policies file, and Name
// the id of the rule that it belongs to, empty for the policy itself.
func (p *Policy) Extend(s Settings) (*Policy, error) {
	made := &Policy{Settings: s, unit: precisions[s.Precision]}
	made.Min = cmp.Or(s.Min, Duration(made.unit))
	made.Jitter = max(0, s.Jitter)
	made.Targets = slices.Clone(s.Targets)
	wrong := made.faults()
	for i := range made.Targets {
		wrong.target(made.Targets, i)
	}
	rules := wrong.compile(s.Rules, Transient, Permanent)
	inDoubt := wrong.compile(s.InDoubt, "")
	if wrong != nil {
		return nil, text.Findings(wrong)
	}
	made.Rules, made.InDoubt = slices.Concat(rules, p.Rules), slices.Concat(inDoubt, p.InDoubt)
	made.version = made.fingerprint()
	return made, nil
}

// compile returns the rules, each of which must have one of the classes, with their conditions compiled.
func (f *faults) compile(rules []Rule, classes ...Class) (compiled []Rule) {
	seen := map[string]bool{}
	for _, r := range rules {
		f.add(!slices.Contains(classes, r.Class), r.ID, "class",
			text.Messagef("must be TRANSIENT or PERMANENT; a rule of inDoubt has none"))
		f.add(r.Team != "" && (r.Class != Permanent || !TeamForm.MatchString(r.Team)), r.ID, "team",
			text.Messagef("is %q but must be a word such as operations, 1 to 30 of a to z and -, "+
				"in a PERMANENT rule", r.Team))
		f.add(seen[r.ID], r.ID, "id", text.Messagef("is taken by another rule"))
		f.add(!validRuleID.MatchString(r.ID) || r.ID == RuleUnknown || r.ID == RuleEmpty, r.ID, "id",
			text.Messagef("is %q but must be letters, digits and . _ : / -, at most 100, "+
				"and neither unknown nor empty: decisions and the audit trail name their rule", r.ID))
		r.Matcher = errtext.Compile(r.Condition, func(setting, problem string) {
			f.add(true, r.ID, setting, text.Messagef("%s", problem))
		})
		seen[r.ID] = true
		compiled = append(compiled, r)
	}
	return compiled
}

// faults returns what is wrong with the policy but for its targets and rules.
func (p *Policy) faults() (f faults) {
	f.add(!validName.MatchString(p.Name), "", "name",
		text.Messagef("is %q but must be lower-case letters, digits and -, a letter first, at most 63",
			p.Name))
	known, unit := p.unit != 0, Duration(p.unit)
	f.add(!known, "", "precision", text.Messagef("must be minute, second or millisecond"))
	f.add(known && (p.Min < unit || p.Min%unit != 0), "", "min",
		text.Messagef("is %s but must be whole units of precision, %s", p.Min, unit))
	f.add(known && p.Max%unit != 0, "", "max",
		text.Messagef("is %s but must be whole units of precision, %s", p.Max, unit))
	f.add(p.Max < p.Min || p.Max < p.Base || p.Max > Duration(maxWait), "", "max",
		text.Messagef("is %s but must be from %s, the longer of min and base, to %s",
			p.Max, max(p.Min, p.Base), Duration(maxWait)))
	f.add(p.Base <= 0 || p.Base%Duration(time.Millisecond) != 0, "", "base",
		text.Messagef("is %s but must be whole milliseconds, 1 or more", p.Base))
	f.add(!(p.Factor >= 1 && p.Factor <= 1000), "", "factor",
		text.Messagef("is %s but must be from 1 to 1000", fmt.Sprint(p.Factor)))
	f.add(!(p.Jitter >= 0 && p.Jitter <= 1), "", "jitter",
		text.Messagef("is %s but must be from 0 to 1: 0.2 spreads a wait by a fifth to both sides",
			fmt.Sprint(p.Jitter)))
	f.add(p.MaxRetries < 0 || p.MaxRetries > RetriesCeiling, "", "maxRetries",
		text.Messagef("is %s but must be from 0 to 1000", fmt.Sprint(p.MaxRetries)))
	f.add(p.Zone == nil || p.TimeZone == "Local", "", "timeZone",
		text.Messagef("is %q, which is no zone such as America/Sao_Paulo", text.Shorten(p.TimeZone, 60)))
	f.add(p.IDs != ClaimIDs && p.IDs != AnyIDs, "", "ids", text.Messagef("must be claim or any"))
	f.add(p.Unknown != Unknown && p.Unknown != Transient && p.Unknown != Permanent, "", "unknown",
		text.Messagef("must be UNKNOWN, TRANSIENT or PERMANENT"))
	f.add(p.OnEmptyError != RejectEmptyError && p.OnEmptyError != UnknownEmptyError, "", "onEmptyError",
		text.Messagef("must be reject or unknown"))
	return f
}

// maxWait bounds Max: longer waits are no retries, and their sum must not overflow.
const maxWait = 366 * 24 * time.Hour

// Version returns a short hash of everything in the policy that can change a decision, overrides of a job
// included. Two decisions with the same name and version were made by the same policy.
func (p *Policy) Version() string { return p.version }

// fingerprint returns the hash of the settings, but for what is for people and for where rules come from, and
// of the tables that come with the program.
func (p *Policy) fingerprint() string {
	s := p.Settings
	s.Description, s.Source, s.Extends, s.Targets = "", "", "", nil
	s.Rules, s.InDoubt = slices.Concat(p.Rules, p.InDoubt), nil // these have no class
	for i := range s.Rules {
		s.Rules[i].Source = ""
	}
	return hash(s, errtext.Version())
}

// hash returns a short hash of values by their JSON, which they all have.
func hash(values ...any) string {
	b, _ := json.Marshal(values)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}
