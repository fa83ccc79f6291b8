package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/match"
)

// Entry is a policy as it is written in a file; the schema says what each field holds. What is nil or empty is not stated:
// it has its default, or is taken over from the policy that this one extends. Of [Set.Entry] everything is stated.
type Entry struct {
	Name         string   `yaml:"name" json:"name"`
	Description  string   `yaml:"description" json:"description,omitempty"`
	Source       string   `yaml:"source" json:"source,omitempty"`
	Extends      string   `yaml:"extends" json:"extends,omitempty"`
	Base         string   `yaml:"base" json:"base"`
	Factor       *float64 `yaml:"factor" json:"factor"`
	Min          string   `yaml:"min" json:"min"`
	Max          string   `yaml:"max" json:"max"`
	Jitter       *Jitter  `yaml:"jitter" json:"jitter"`
	Precision    string   `yaml:"precision" json:"precision"`
	MaxRetries   *int     `yaml:"maxRetries" json:"maxRetries"`
	Deadline     string   `yaml:"deadline" json:"deadline,omitempty"`
	TimeZone     string   `yaml:"timeZone" json:"timeZone"`
	IDs          string   `yaml:"ids" json:"ids"`
	Unknown      string   `yaml:"unknown" json:"unknown"`
	OnEmptyError string   `yaml:"onEmptyError" json:"onEmptyError"`
	JobOverrides *bool    `yaml:"jobOverrides" json:"jobOverrides"`
	Rules        []Rule   `yaml:"rules" json:"rules,omitempty"`
	InDoubt      []Rule   `yaml:"inDoubt" json:"inDoubt,omitempty"`

	// file is where the policy is written, path where in it, and node is its YAML there.
	file, path string
	node       *yaml.Node
}

// Jitter is the jitter of an [Entry].
type Jitter struct {
	Mode string `yaml:"mode" json:"mode"`
	// Share is stated with mode proportional only.
	Share *float64 `yaml:"share" json:"share,omitempty"`
}

// Rule is a rule of an [Entry]. One of InDoubt has no class.
type Rule struct {
	ID       string   `yaml:"id" json:"id"`
	Class    string   `yaml:"class" json:"class,omitempty"`
	Contains []string `yaml:"contains" json:"contains,omitempty"`
	Code     []string `yaml:"code" json:"code,omitempty"`
	Pattern  string   `yaml:"pattern" json:"pattern,omitempty"`
	Unless   string   `yaml:"unless" json:"unless,omitempty"`
	Source   string   `yaml:"source" json:"source,omitempty"`

	// policy, file, path and node say where the rule is written, also after it was taken over.
	policy, file, path string
	node               *yaml.Node
}

// newEntry reads an entry. The error is that of a form which the schema does not allow either.
func newEntry(file, path string, node *yaml.Node) (*Entry, error) {
	e := &Entry{}
	err := node.Decode(e)
	e.file, e.path, e.node = file, path, node
	e.Rules, e.InDoubt = e.written("rules"), e.written("inDoubt")
	return e, err
}

// written are the rules as the entry states them, one for each item of the list.
func (e *Entry) written(key string) []Rule {
	_, list := child(e.node, key)
	written := make([]Rule, len(items(list)))
	for i, node := range items(list) {
		r := &written[i]
		_ = node.Decode(r) // of a rule whose form is wrong, what there is of it
		r.policy, r.file, r.path, r.node = e.Name, e.file, e.path+"/"+key+"/"+strconv.Itoa(i), node
	}
	return written
}

// states reports whether the entry itself states a setting, and in which line; the line of its beginning where it does not.
func (e *Entry) states(setting string) (line int, stated bool) {
	if key, _ := child(e.node, setting); key != nil {
		return key.Line, true
	}
	return e.node.Line, false
}

// extend takes over from the parent what the entry does not state. The entry's rules come before the parent's.
func (e *Entry) extend(parent *Entry) {
	inherit(&e.Base, parent.Base)
	inherit(&e.Factor, parent.Factor)
	inherit(&e.Min, parent.Min)
	inherit(&e.Max, parent.Max)
	inherit(&e.Jitter, parent.Jitter)
	inherit(&e.Precision, parent.Precision)
	inherit(&e.MaxRetries, parent.MaxRetries)
	inherit(&e.Deadline, parent.Deadline)
	inherit(&e.TimeZone, parent.TimeZone)
	inherit(&e.IDs, parent.IDs)
	inherit(&e.Unknown, parent.Unknown)
	inherit(&e.OnEmptyError, parent.OnEmptyError)
	inherit(&e.JobOverrides, parent.JobOverrides)
	e.Rules = slices.Concat(e.Rules, parent.Rules)
	e.InDoubt = slices.Concat(e.InDoubt, parent.InDoubt)
}

// inherit takes the parent's value where there is no own one.
func inherit[T comparable](own *T, parents T) {
	*own = cmp.Or(*own, parents)
}

// defaultTimeZone is the zone of a policy that names none: that of the hospital (RN-BIL-005).
const defaultTimeZone = "America/Sao_Paulo"

// completed is the entry with the defaults of all that is not stated.
func (e *Entry) completed() Entry {
	c := *e
	inherit(&c.Factor, new(2.0))
	inherit(&c.Precision, "minute")
	inherit(&c.Min, map[string]string{"minute": "1m", "second": "1s", "millisecond": "1ms"}[c.Precision])
	inherit(&c.Jitter, &Jitter{Mode: string(retry.JitterNone)})
	inherit(&c.MaxRetries, new(0))
	inherit(&c.TimeZone, defaultTimeZone)
	inherit(&c.IDs, string(retry.ClaimIDs))
	inherit(&c.Unknown, string(retry.Unknown))
	inherit(&c.OnEmptyError, "reject")
	inherit(&c.JobOverrides, new(false))
	return c
}

// policy makes the policy of an entry that is complete. What is wrong with it are [*retry.SettingError]s.
func (e *Entry) policy() (p *retry.Policy, faults []*retry.SettingError) {
	span := func(setting, text string) time.Duration {
		if text == "" {
			return 0
		}
		d, err := ParseDuration(text)
		if err != nil {
			faults = append(faults, &retry.SettingError{Setting: setting, Problem: "is " + strconv.Quote(short(text)) + ", which " + err.Error()})
		}
		return d
	}
	written := retry.Settings{
		Name:             e.Name,
		Base:             span("base", e.Base),
		Factor:           *e.Factor,
		Min:              span("min", e.Min),
		Max:              span("max", e.Max),
		Jitter:           retry.Jitter{Mode: retry.JitterMode(e.Jitter.Mode), Share: *cmp.Or(e.Jitter.Share, new(0.0))},
		Precision:        map[string]time.Duration{"minute": time.Minute, "second": time.Second, "millisecond": time.Millisecond}[e.Precision],
		MaxRetries:       *e.MaxRetries,
		Deadline:         span("deadline", e.Deadline),
		IDs:              retry.IDForm(e.IDs),
		Unknown:          retry.Class(e.Unknown),
		AcceptEmptyError: e.OnEmptyError == "unknown",
		JobOverrides:     *e.JobOverrides,
		Rules:            rules(e.Rules),
		InDoubt:          rules(e.InDoubt),
	}
	unread := len(faults) > 0
	var err error
	written.Zone, err = time.LoadLocation(e.TimeZone)
	if err != nil || e.TimeZone == "Local" {
		faults = append(faults, &retry.SettingError{Setting: "timeZone", Problem: fmt.Sprintf("is %q, which is no zone such as %s", short(e.TimeZone), defaultTimeZone)})
		written.Zone = time.UTC // so that the rest is looked at
	}
	p, err = retry.New(written)
	for _, fault := range settingErrors(err) {
		if !unread || fault.Rule != "" { // what could not be read would be found too short as well
			faults = append(faults, fault)
		}
	}
	return p, faults
}

// settingErrors takes a joined error of [retry.New] apart.
func settingErrors(err error) (faults []*retry.SettingError) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, one := range joined.Unwrap() {
		if fault, ok := one.(*retry.SettingError); ok { //nolint:errorlint // likewise
			faults = append(faults, fault)
		}
	}
	return faults
}

func rules(written []Rule) []retry.Rule {
	made := make([]retry.Rule, len(written))
	for i := range written {
		r := &written[i]
		made[i] = retry.Rule{
			ID: r.ID, Class: retry.Class(r.Class), Source: r.Source,
			Condition: match.Condition{Contains: r.Contains, Codes: r.Code, Pattern: r.Pattern, Unless: r.Unless},
		}
	}
	return made
}
