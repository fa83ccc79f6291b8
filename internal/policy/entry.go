package policy

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/lang"
	"hospital.example/analyze-retry/internal/retry"
)

// Entry is a policy as it is written in a file. The schema describes the fields. A nil or empty field is not stated: it is
// inherited from the policy that this one extends, or has its default.
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
	// Targets is empty, and not nil, where a file states that there are none.
	Targets []Target `yaml:"targets" json:"targets,omitempty"`
	// Rules and InDoubt are those that the entry itself states, without the parent's. [Set.Entry] returns both.
	Rules   []Rule `yaml:"rules" json:"rules,omitempty"`
	InDoubt []Rule `yaml:"inDoubt" json:"inDoubt,omitempty"`

	// file is the file that the policy is written in, path the place in it, such as policies/0, and node its YAML there.
	file, path string
	node       *yaml.Node
	// parent is the policy that this one extends, nil for none; above is how many policies stand above this one.
	parent *Entry
	above  int
	// policy is made of the entry. It stays nil if there is a fault.
	policy  *retry.Policy
	visited bool
}

// Jitter is the jitter of an [Entry].
type Jitter struct {
	Mode string `yaml:"mode" json:"mode"`
	// Share goes with mode proportional only.
	Share *float64 `yaml:"share" json:"share,omitempty"`
}

// Target is a target of an [Entry]: a KPI, and a bound with a value, such as ">= 80%", "<= 2h" or "<= 1.2".
type Target struct {
	KPI    string `yaml:"kpi" json:"kpi"`
	Target string `yaml:"target" json:"target"`
	Source string `yaml:"source" json:"source,omitempty"`
}

// Rule is a rule of an [Entry]. One of InDoubt has no class.
type Rule struct {
	ID        string `yaml:"id" json:"id"`
	Class     string `yaml:"class" json:"class,omitempty"`
	Condition `yaml:",inline"`
	Unless    *Condition `yaml:"unless" json:"unless,omitempty"`
	Source    string     `yaml:"source" json:"source,omitempty"`

	// path and node are the place where the rule is written.
	path string
	node *yaml.Node
}

// Condition is what a rule asks of a text, see [evidence.Condition].
type Condition struct {
	Glosa     *Glosa   `yaml:"glosa" json:"glosa,omitempty"`
	HTTP      []string `yaml:"http" json:"http,omitempty"`
	SMTP      []string `yaml:"smtp" json:"smtp,omitempty"`
	SOAPFault []string `yaml:"soapFault" json:"soapFault,omitempty"`
	Exception []string `yaml:"exception" json:"exception,omitempty"`
	Terms     *Terms   `yaml:"terms" json:"terms,omitempty"`
	Contains  []string `yaml:"contains" json:"contains,omitempty"`
	Pattern   string   `yaml:"pattern" json:"pattern,omitempty"`
}

// Glosa is a code of a table.
type Glosa struct {
	Table  string   `yaml:"table" json:"table"`
	Class  string   `yaml:"class" json:"class,omitempty"`
	Only   []string `yaml:"only" json:"only,omitempty"`
	Except []string `yaml:"except" json:"except,omitempty"`
	// In is answer or empty.
	In string `yaml:"in" json:"in,omitempty"`
}

// Terms is a phrase of a table.
type Terms struct {
	Table string   `yaml:"table" json:"table"`
	Sign  []string `yaml:"sign" json:"sign"`
	// In is answer or empty.
	In string `yaml:"in" json:"in,omitempty"`
}

// newEntry reads an entry. It fails on a form that the schema does not allow either.
func newEntry(file, path string, node *yaml.Node) (*Entry, error) {
	e := &Entry{}
	err := node.Decode(e)
	e.file, e.path, e.node = file, path, node
	e.Rules, e.InDoubt = e.written("rules"), e.written("inDoubt")
	return e, err
}

// written returns the rules that the entry itself states, one for each item of the list.
func (e *Entry) written(key string) []Rule {
	_, list := child(e.node, key)
	written := make([]Rule, len(items(list)))
	for i, node := range items(list) {
		r := &written[i]
		_ = node.Decode(r) // of a rule whose form is wrong, what there is of it
		r.path, r.node = e.path+"/"+key+"/"+strconv.Itoa(i), node
	}
	return written
}

// states reports whether the entry itself states a setting, and returns its line, or the entry's first line.
func (e *Entry) states(setting string) (line int, stated bool) {
	if key, _ := child(e.node, setting); key != nil {
		return key.Line, true
	}
	return e.node.Line, false
}

// inherit takes from the parent what the entry does not state, but for rules.
func (e *Entry) inherit(parent *Entry) {
	fill(&e.Base, parent.Base)
	fill(&e.Factor, parent.Factor)
	fill(&e.Min, parent.Min)
	fill(&e.Max, parent.Max)
	fill(&e.Jitter, parent.Jitter)
	fill(&e.Precision, parent.Precision)
	fill(&e.MaxRetries, parent.MaxRetries)
	fill(&e.Deadline, parent.Deadline)
	fill(&e.TimeZone, parent.TimeZone)
	fill(&e.IDs, parent.IDs)
	fill(&e.Unknown, parent.Unknown)
	fill(&e.OnEmptyError, parent.OnEmptyError)
	fill(&e.JobOverrides, parent.JobOverrides)
	if e.Targets == nil {
		e.Targets = parent.Targets
	}
}

// fill sets a field that is not stated.
func fill[T comparable](field *T, value T) { *field = cmp.Or(*field, value) }

// defaults has every default but that of min.
var defaults = Entry{
	Factor: new(2.0), Precision: "minute", Jitter: &Jitter{Mode: string(retry.JitterNone)}, MaxRetries: new(0),
	TimeZone: "America/Sao_Paulo", // the hospital's (RN-BIL-005)
	IDs:      string(retry.ClaimIDs), Unknown: string(retry.Unknown), OnEmptyError: "reject", JobOverrides: new(false),
}

// precisions are the values of precision. The least wait of each is the default of min.
var precisions = map[string]time.Duration{"minute": time.Minute, "second": time.Second, "millisecond": time.Millisecond}

// completed returns the entry with all defaults.
func (e *Entry) completed() Entry {
	c := *e
	c.inherit(&defaults)
	if precision := precisions[c.Precision]; precision > 0 {
		fill(&c.Min, retry.FormatDuration(precision))
	}
	return c
}

// make makes the policy of a completed entry. Its rules come before the parent's.
func (e *Entry) make() (p *retry.Policy, faults []*retry.SettingError) {
	duration := func(setting, text string) time.Duration {
		if text == "" {
			return 0
		}
		d, err := ParseDuration(text)
		if err != nil {
			faults = append(faults, &retry.SettingError{Setting: setting, Problem: lang.Textf("is %q, which %s", short(text), err)})
		}
		return d
	}
	written := retry.Settings{
		Name:             e.Name,
		Base:             duration("base", e.Base),
		Factor:           *e.Factor,
		Min:              duration("min", e.Min),
		Max:              duration("max", e.Max),
		Jitter:           retry.Jitter{Mode: retry.JitterMode(e.Jitter.Mode), Share: *cmp.Or(e.Jitter.Share, new(0.0))},
		Precision:        precisions[e.Precision],
		MaxRetries:       *e.MaxRetries,
		Deadline:         duration("deadline", e.Deadline),
		IDs:              retry.IDForm(e.IDs),
		Unknown:          retry.Class(e.Unknown),
		AcceptEmptyError: e.OnEmptyError == "unknown",
		JobOverrides:     *e.JobOverrides,
		Rules:            rules(e.Rules),
		InDoubt:          rules(e.InDoubt),
		Targets:          make([]retry.Target, len(e.Targets)),
	}
	unread := len(faults) > 0
	var err error
	for i, t := range e.Targets {
		if written.Targets[i], err = t.read(); err != nil {
			faults = append(faults, &retry.SettingError{Setting: "targets", Problem: lang.Textf("%s", "has "+strconv.Quote(short(t.Target))+", which "+err.Error())})
		}
	}
	written.Zone, err = time.LoadLocation(e.TimeZone)
	if err != nil || e.TimeZone == "Local" {
		faults = append(faults, &retry.SettingError{Setting: "timeZone", Problem: lang.Textf("is %q, which is no zone such as %s", short(e.TimeZone), defaults.TimeZone)})
		written.Zone = time.UTC // so that the rest is checked
	}
	if e.parent == nil {
		p, err = retry.New(written)
	} else {
		p, err = e.parent.policy.Extend(written)
	}
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		for _, one := range joined.Unwrap() {
			// A duration that could not be read is 0, which would be a fault too.
			if fault, is := errors.AsType[*retry.SettingError](one); is && (!unread || fault.Rule != "") {
				faults = append(faults, fault)
			}
		}
	}
	return p, faults
}

func rules(written []Rule) []retry.Rule {
	made := make([]retry.Rule, len(written))
	for i := range written {
		r := &written[i]
		made[i] = retry.Rule{ID: r.ID, Class: retry.Class(r.Class), Source: r.Source, Condition: r.Condition.asked()}
		if r.Unless != nil {
			unless := r.Unless.asked()
			made[i].Condition.Unless = &unless
		}
	}
	return made
}

const inAnswer = "answer"

// asked returns the condition as texts are asked.
func (c *Condition) asked() evidence.Condition {
	asked := evidence.Condition{HTTP: c.HTTP, SMTP: c.SMTP, SOAPFault: c.SOAPFault, Exception: c.Exception, Contains: c.Contains, Pattern: c.Pattern}
	if g := c.Glosa; g != nil {
		asked.Glosa = &evidence.GlosaCondition{Table: g.Table, Class: g.Class, Only: g.Only, Except: g.Except, InAnswer: g.In == inAnswer}
	}
	if t := c.Terms; t != nil {
		asked.Terms = &evidence.TermsCondition{Table: t.Table, Sign: t.Sign, InAnswer: t.In == inAnswer}
	}
	return asked
}
