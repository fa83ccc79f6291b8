package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

//go:generate go run ./schema

// Entry is a policy as a file states it, with what it inherits from the policy that it extends, and with defaults.
type Entry struct {
	Name         string   `yaml:"name" json:"name"`
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
	Rules   []retry.Rule `yaml:"rules" json:"rules,omitempty"`
	InDoubt []retry.Rule `yaml:"inDoubt" json:"inDoubt,omitempty"`

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

// The scalars of a file check what they read. Their error is a [yaml.TypeError], which the decoder collects, so that all faults of a
// file are reported at once.
type (
	// Duration is a duration as it is written; empty if it is not stated.
	Duration string
	// Number is a number in plain decimal digits.
	Number float64
	// Whole is a whole number in plain decimal digits.
	Whole int
)

// Plain decimal digits are what YAML reads as they are written. It reads 010 as 8, 0x10 as 16 and 1_000 as 1000.
var (
	plainNumber = regexp.MustCompile(`^(?:0|[1-9][0-9]*|(?:0|[1-9][0-9]*)?\.[0-9]+)$`)
	plainWhole  = regexp.MustCompile(`^(?:0|[1-9][0-9]*)$`)
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
	fault := func(setting string, problem text.Message) {
		faults = append(faults, &retry.SettingError{Setting: setting, Problem: problem})
	}
	duration := func(d Duration) time.Duration {
		read, _ := retry.ParseDuration(string(d)) // an empty one is 0
		return read
	}
	s = retry.Settings{
		Name:             e.Name,
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
		Rules:            e.Rules,
		InDoubt:          e.InDoubt,
	}
	if !s.AcceptEmptyError && e.OnEmptyError != defaults.OnEmptyError {
		fault("onEmptyError", text.Messagef("%s", "must be reject or unknown"))
	}
	for _, t := range e.Targets {
		target, err := t.read()
		if err != nil {
			fault("targets", text.Messagef("%s", err))
			continue
		}
		s.Targets = append(s.Targets, target)
	}
	var err error
	if s.Zone, err = time.LoadLocation(e.TimeZone); err != nil || e.TimeZone == "Local" {
		fault("timeZone", text.Messagef("is %q, which is no zone such as %s", short(e.TimeZone), defaults.TimeZone))
		s.Zone = time.UTC // so that the rest is checked
	}
	return s, faults
}

// read returns the target with its value as a number: a share for 80%, seconds for 2h, and else the number itself.
func (t Target) read() (read retry.Target, err error) {
	s := strings.TrimLeft(t.Target, "<>=")
	read = retry.Target{KPI: t.KPI, Bound: strings.TrimSuffix(t.Target, s), Source: t.Source}
	s = strings.TrimSpace(s)
	form := `a number: "<= 1.2"`
	switch retry.KPIs()[t.KPI] {
	case retry.Share:
		form = `a share in percent: ">= 80%"`
		share, percent := strings.CutSuffix(s, "%")
		if read.Value, err = strconv.ParseFloat(share, 64); !percent {
			err = strconv.ErrSyntax
		}
		read.Value /= 100
	case retry.Seconds:
		form = `a duration: "<= 2h"`
		var d time.Duration
		d, err = retry.ParseDuration(s)
		read.Value = d.Seconds()
	case retry.Number:
		read.Value, err = strconv.ParseFloat(s, 64)
	}
	if err != nil {
		return read, fmt.Errorf("has %q for %s but must have >=, <= or < and %s", short(t.Target), short(t.KPI), form)
	}
	return read, nil
}
