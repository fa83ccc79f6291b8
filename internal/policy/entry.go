package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/lang"
	"hospital.example/analyze-retry/internal/retry"
)

//go:generate go run ./schema

// Entry is a policy as a file states it, with what it inherits from the policy that it extends, and with defaults.
type Entry struct {
	Name         Name     `yaml:"name" json:"name"`
	Description  string   `yaml:"description" json:"description,omitempty"`
	Source       string   `yaml:"source" json:"source,omitempty"`
	Extends      string   `yaml:"extends" json:"extends,omitempty"`
	Base         Duration `yaml:"base" json:"base,omitempty"`
	Factor       Number   `yaml:"factor" json:"factor,omitempty"`
	Min          Duration `yaml:"min" json:"min,omitempty"`
	Max          Duration `yaml:"max" json:"max,omitempty"`
	Jitter       Number   `yaml:"jitter" json:"jitter"`
	Precision    string   `yaml:"precision" json:"precision,omitempty"`
	MaxRetries   Whole    `yaml:"maxRetries" json:"maxRetries"`
	Deadline     Duration `yaml:"deadline" json:"deadline,omitempty"`
	TimeZone     string   `yaml:"timeZone" json:"timeZone,omitempty"`
	IDs          string   `yaml:"ids" json:"ids,omitempty"`
	Unknown      string   `yaml:"unknown" json:"unknown,omitempty"`
	OnEmptyError string   `yaml:"onEmptyError" json:"onEmptyError,omitempty"`
	JobOverrides bool     `yaml:"jobOverrides" json:"jobOverrides"`
	Targets      []Target `yaml:"targets" json:"targets,omitempty"`
	// Rules and InDoubt are those that the entry itself states, without the parent's. [Set.Entry] returns both.
	Rules   []Rule `yaml:"rules" json:"rules,omitempty"`
	InDoubt []Rule `yaml:"inDoubt" json:"inDoubt,omitempty"`

	// file is the file that the policy is written in, node its YAML there.
	file string
	node *yaml.Node
	// parent is the policy that this one extends, nil for none.
	parent *Entry
	policy *retry.Policy
}

// Target is a target of an [Entry]: a KPI, and a bound with a value.
type Target struct {
	KPI    string `yaml:"kpi" json:"kpi"`
	Target string `yaml:"target" json:"target"`
	Source string `yaml:"source" json:"source,omitempty"`
}

// Rule is a rule of an [Entry]. One of InDoubt has no class.
type Rule struct {
	ID        RuleID `yaml:"id" json:"id"`
	Class     string `yaml:"class" json:"class,omitempty"`
	Condition `yaml:",inline"`
	Unless    *Condition `yaml:"unless" json:"unless,omitempty"`
	Source    string     `yaml:"source" json:"source,omitempty"`

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
}

// Glosa is a code of a table.
type Glosa struct {
	Table  string   `yaml:"table" json:"table"`
	Class  string   `yaml:"class" json:"class,omitempty"`
	Only   []string `yaml:"only" json:"only,omitempty"`
	Except []string `yaml:"except" json:"except,omitempty"`
	In     Place    `yaml:"in" json:"in,omitempty"`
}

// Terms is a phrase of a table.
type Terms struct {
	Table string   `yaml:"table" json:"table"`
	Sign  []string `yaml:"sign" json:"sign"`
	In    Place    `yaml:"in" json:"in,omitempty"`
}

// The scalars of a file check what they read. Their error is a [yaml.TypeError], which the decoder collects, so that all faults of a
// file are reported at once.
type (
	// Duration is a duration as it is written; empty if it is not stated.
	Duration string
	// Number is a number in plain decimal digits.
	Number float64
	// Whole is a whole number in plain decimal digits.
	Whole int
	// Name is the name of a policy.
	Name string
	// RuleID is the id of a rule.
	RuleID string
	// Place is where a code or a phrase must stand: answer, or empty for anywhere.
	Place string
)

const inAnswer Place = "answer"

// Plain decimal digits are what YAML reads as they are written. It reads 010 as 8, 0x10 as 16 and 1_000 as 1000.
var (
	plainNumber = regexp.MustCompile(`^(?:0|[1-9][0-9]*|(?:0|[1-9][0-9]*)?\.[0-9]+)$`)
	plainWhole  = regexp.MustCompile(`^(?:0|[1-9][0-9]*)$`)
	validName   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	validRuleID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$`)
)

// wrong returns the error of a scalar.
func wrong(node *yaml.Node, must string) error {
	value := "the value"
	if node.Kind == yaml.ScalarNode {
		value = strconv.Quote(short(node.Value))
	}
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s must be %s", node.Line, value, must)}}
}

// UnmarshalYAML reads a duration.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	if read, err := retry.ParseDuration(node.Value); err != nil || read < 0 {
		return wrong(node, "a duration such as 500ms, 90s, 5m or 24h, or PT5M")
	}
	*d = Duration(node.Value)
	return nil
}

// UnmarshalYAML reads a number.
func (n *Number) UnmarshalYAML(node *yaml.Node) error {
	if !plainNumber.MatchString(node.Value) {
		return wrong(node, "a number in plain decimal digits, such as 2 or 0.2")
	}
	return node.Decode((*float64)(n))
}

// UnmarshalYAML reads a whole number.
func (n *Whole) UnmarshalYAML(node *yaml.Node) error {
	if !plainWhole.MatchString(node.Value) {
		return wrong(node, "a whole number in plain decimal digits")
	}
	return node.Decode((*int)(n))
}

// UnmarshalYAML reads the name of a policy.
func (n *Name) UnmarshalYAML(node *yaml.Node) error {
	if !validName.MatchString(node.Value) {
		return wrong(node, "a name of lower-case letters, digits and - that begins with a letter, at most 63 characters")
	}
	*n = Name(node.Value)
	return nil
}

// UnmarshalYAML reads the id of a rule.
func (id *RuleID) UnmarshalYAML(node *yaml.Node) error {
	if !validRuleID.MatchString(node.Value) || node.Value == retry.RuleUnknown || node.Value == retry.RuleEmpty {
		return wrong(node, "an id of letters, digits and . _ : / - that begins with a letter or a digit, at most 100 characters; "+
			"unknown and empty are taken by the worker")
	}
	*id = RuleID(node.Value)
	return nil
}

// UnmarshalYAML reads a place.
func (p *Place) UnmarshalYAML(node *yaml.Node) error {
	if node.Value != string(inAnswer) {
		return wrong(node, "answer")
	}
	*p = inAnswer
	return nil
}

// defaults has every default but that of min, which is one unit of the precision. There is none of maxRetries.
var defaults = Entry{
	Factor: 2, MaxRetries: -1, Precision: "minute", TimeZone: "America/Sao_Paulo", // the hospital's (RN-BIL-005)
	IDs: string(retry.ClaimIDs), Unknown: string(retry.Unknown), OnEmptyError: "reject",
}

// precisions are the values of precision.
var precisions = map[string]time.Duration{"minute": time.Minute, "second": time.Second, "millisecond": time.Millisecond}

// completed returns the entry with the default of min.
func (e *Entry) completed() Entry {
	c := *e
	if precision := precisions[c.Precision]; precision > 0 {
		c.Min = cmp.Or(c.Min, Duration(retry.FormatDuration(precision)))
	}
	return c
}

// settings returns what the policy is made of, and what cannot be read of it.
func (e *Entry) settings() (s retry.Settings, faults []*retry.SettingError) {
	fault := func(setting string, problem lang.Text) {
		faults = append(faults, &retry.SettingError{Setting: setting, Problem: problem})
	}
	duration := func(d Duration) time.Duration {
		read, _ := retry.ParseDuration(string(d)) // an empty one is 0
		return read
	}
	s = retry.Settings{
		Name:             string(e.Name),
		Base:             duration(e.Base),
		Factor:           float64(e.Factor),
		Min:              duration(e.Min),
		Max:              duration(e.Max),
		Jitter:           float64(e.Jitter),
		Precision:        precisions[e.Precision],
		MaxRetries:       int(e.MaxRetries),
		Deadline:         duration(e.Deadline),
		IDs:              retry.IDForm(e.IDs),
		Unknown:          retry.Class(e.Unknown),
		AcceptEmptyError: e.OnEmptyError == "unknown",
		JobOverrides:     e.JobOverrides,
		Rules:            rules(e.Rules),
		InDoubt:          rules(e.InDoubt),
	}
	if !s.AcceptEmptyError && e.OnEmptyError != defaults.OnEmptyError {
		fault("onEmptyError", lang.Textf("%s", "must be reject or unknown"))
	}
	for _, t := range e.Targets {
		target, err := t.read()
		if err != nil {
			fault("targets", lang.Textf("%s", err))
			continue
		}
		s.Targets = append(s.Targets, target)
	}
	var err error
	if s.Zone, err = time.LoadLocation(e.TimeZone); err != nil || e.TimeZone == "Local" {
		fault("timeZone", lang.Textf("is %q, which is no zone such as %s", short(e.TimeZone), defaults.TimeZone))
		s.Zone = time.UTC // so that the rest is checked
	}
	return s, faults
}

func rules(written []Rule) []retry.Rule {
	made := make([]retry.Rule, len(written))
	for i := range written {
		r := &written[i]
		made[i] = retry.Rule{ID: string(r.ID), Class: retry.Class(r.Class), Source: r.Source, Condition: r.Condition.asked()}
		if r.Unless != nil {
			unless := r.Unless.asked()
			made[i].Condition.Unless = &unless
		}
	}
	return made
}

// asked returns the condition as texts are asked.
func (c *Condition) asked() evidence.Condition {
	asked := evidence.Condition{
		HTTP: c.HTTP, SMTP: c.SMTP, SOAPFault: c.SOAPFault, Exception: c.Exception, Contains: c.Contains,
	}
	if g := c.Glosa; g != nil {
		asked.Glosa = &evidence.GlosaCondition{
			Table: g.Table, Class: g.Class, Only: g.Only, Except: g.Except, InAnswer: g.In == inAnswer,
		}
	}
	if t := c.Terms; t != nil {
		asked.Terms = &evidence.TermsCondition{Table: t.Table, Sign: t.Sign, InAnswer: t.In == inAnswer}
	}
	return asked
}

// read returns the target with its value as a number: a share for 80%, seconds for 2h, and else the number itself.
func (t Target) read() (read retry.Target, err error) {
	text := strings.TrimLeft(t.Target, "<>=")
	read = retry.Target{KPI: t.KPI, Bound: strings.TrimSuffix(t.Target, text), Source: t.Source}
	text = strings.TrimSpace(text)
	form := `a number: "<= 1.2"`
	switch retry.KPIs()[t.KPI] {
	case retry.Share:
		form = `a share in percent: ">= 80%"`
		share, percent := strings.CutSuffix(text, "%")
		if read.Value, err = strconv.ParseFloat(share, 64); !percent {
			err = strconv.ErrSyntax
		}
		read.Value /= 100
	case retry.Seconds:
		form = `a duration: "<= 2h"`
		var d time.Duration
		d, err = retry.ParseDuration(text)
		read.Value = d.Seconds()
	case retry.Number:
		read.Value, err = strconv.ParseFloat(text, 64)
	}
	if err != nil {
		return read, fmt.Errorf("has %q for %s but must have >=, <= or < and %s", short(t.Target), short(t.KPI), form)
	}
	return read, nil
}
