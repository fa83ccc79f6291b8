package policy

import (
	"cmp"
	"fmt"
	"strconv"
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
	Factor       float64  `yaml:"factor" json:"factor,omitempty"`
	Min          Duration `yaml:"min" json:"min,omitempty"`
	Max          Duration `yaml:"max" json:"max,omitempty"`
	Jitter       float64  `yaml:"jitter" json:"jitter"`
	Precision    string   `yaml:"precision" json:"precision,omitempty"`
	MaxRetries   int      `yaml:"maxRetries" json:"maxRetries"`
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
	// policy is nil if the entry has a fault.
	policy *retry.Policy
}

// Target is a target of an [Entry]: a KPI, and a bound with a value.
type Target struct {
	KPI    string `yaml:"kpi" json:"kpi"`
	Target string `yaml:"target" json:"target"`
	Source string `yaml:"source" json:"source,omitempty"`
}

// Duration is a duration in the notation of [retry.ParseDuration]; 0 if it is not stated.
type Duration time.Duration

// UnmarshalYAML reads a duration. Its error is a [yaml.TypeError], which the decoder collects, so that all faults of a file are
// reported at once.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	read, err := retry.ParseDuration(node.Value)
	if err != nil || read < 0 {
		const form = "line %d: %q must be a duration with its unit, such as 500ms, 90s, 5m or 24h, or PT5M"
		return &yaml.TypeError{Errors: []string{fmt.Sprintf(form, node.Line, text.Shorten(node.Value, 60))}}
	}
	*d = Duration(read)
	return nil
}

// MarshalText writes the duration as a file has it.
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(retry.FormatDuration(time.Duration(d))), nil
}

// defaults has every default but that of min, which is one unit of the precision. There is none of base, max and maxRetries. A
// jitter below 0 is one that nobody has stated, which is none.
var defaults = Entry{
	MaxRetries:   -1,
	Jitter:       -1,
	Factor:       2,
	Precision:    "minute",
	TimeZone:     "America/Sao_Paulo", // the hospital's (RN-BIL-005)
	IDs:          string(retry.ClaimIDs),
	Unknown:      string(retry.Unknown),
	OnEmptyError: "reject",
}

// precisions are the values of precision.
var precisions = map[string]time.Duration{"minute": time.Minute, "second": time.Second, "millisecond": time.Millisecond}

// inherits returns the policy whose rules stand behind the entry's, an empty one if there is none.
func (e *Entry) inherits() *retry.Policy {
	if e.parent == nil || e.parent.policy == nil {
		return &retry.Policy{}
	}
	return e.parent.policy
}

// settings returns what the policy is made of, and what cannot be read of it.
func (e *Entry) settings() (s retry.Settings, faults []error) {
	fault := func(setting, problem string, args ...any) {
		faults = append(faults, &retry.SettingError{Setting: setting, Problem: text.Messagef("%s", fmt.Sprintf(problem, args...))})
	}
	s = retry.Settings{
		Name:             e.Name,
		Base:             time.Duration(e.Base),
		Factor:           e.Factor,
		Min:              cmp.Or(time.Duration(e.Min), precisions[e.Precision]),
		Max:              time.Duration(e.Max),
		Jitter:           max(0, e.Jitter),
		Precision:        precisions[e.Precision],
		MaxRetries:       e.MaxRetries,
		Deadline:         time.Duration(e.Deadline),
		IDs:              retry.IDForm(e.IDs),
		Unknown:          retry.Class(e.Unknown),
		AcceptEmptyError: e.OnEmptyError == "unknown",
		JobOverrides:     e.JobOverrides,
		Rules:            e.Rules,
		InDoubt:          e.InDoubt,
	}
	if !s.AcceptEmptyError && e.OnEmptyError != defaults.OnEmptyError {
		fault("onEmptyError", "must be reject or unknown")
	}
	for _, t := range e.Targets {
		target, err := retry.ParseTarget(t.KPI, t.Target, t.Source)
		if err != nil {
			fault("targets", "%v", err)
			continue
		}
		s.Targets = append(s.Targets, target)
	}
	var err error
	if s.Zone, err = time.LoadLocation(e.TimeZone); err != nil || e.TimeZone == "Local" {
		fault("timeZone", "is %s, which is no zone such as %s", quoted(e.TimeZone), defaults.TimeZone)
		s.Zone = time.UTC // so that the rest is checked
	}
	return s, faults
}

// quoted quotes a value. A long one is cut, so that it does not fill the screen.
func quoted(value string) string { return strconv.Quote(text.Shorten(value, 60)) }
