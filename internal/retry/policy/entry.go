package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

//go:generate go test . -run TestTheSchema -update

// Entry is a policy as a file states it, with what it inherits from the policy that it extends, and with
// defaults.
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
	// Rules and InDoubt are those that the entry itself states, without the parent's. [Set.Entry] returns
	// both.
	Rules   []retry.Rule `yaml:"rules" json:"rules,omitempty"`
	InDoubt []retry.Rule `yaml:"inDoubt" json:"inDoubt,omitempty"`

	// Origin is the file that the policy is written in; or where it comes from without one: built-in, or
	// settings.
	Origin string `yaml:"-" json:"-"`
	// node is its YAML there.
	node yaml.Node
	// parent is the policy that this one extends, or the defaults.
	parent *Entry
	// policy is nil if the entry has a fault; its file is refused then.
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

// UnmarshalYAML reads a duration. Its error is a [yaml.TypeError], which the decoder collects, so that all
// faults of a file are reported at once.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	read, err := retry.ParseDuration(node.Value)
	if err != nil || read < 0 {
		const form = "line %d: %s must be a duration with its unit, such as 500ms, 90s, 5m or 24h, or PT5M"
		return &yaml.TypeError{Errors: []string{fmt.Sprintf(form, node.Line, quoted(node.Value))}}
	}
	*d = Duration(read)
	return nil
}

// MarshalText writes the duration as a file has it.
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(retry.FormatDuration(time.Duration(d))), nil
}

// defaults has every default but that of min, which is one unit of the precision. There is none of base, max
// and maxRetries. A jitter below 0 means that none was stated.
var defaults = Entry{
	MaxRetries:   -1,
	Jitter:       -1,
	Factor:       2,
	Precision:    "minute",
	TimeZone:     "America/Sao_Paulo", // the hospital's (RN-BIL-005)
	IDs:          string(retry.ClaimIDs),
	Unknown:      string(retry.Unknown),
	OnEmptyError: "reject",
	policy:       &retry.Policy{},
}

// precisions are the values of precision.
var precisions = map[string]time.Duration{
	"minute":      time.Minute,
	"second":      time.Second,
	"millisecond": time.Millisecond,
}

// heir returns an entry that inherits all from this one, and states nothing yet.
func (e *Entry) heir(origin string, node yaml.Node) *Entry {
	heir := *e
	heir.Name, heir.Description, heir.Source, heir.Extends = "", "", "", ""
	heir.Rules, heir.InDoubt, heir.policy = nil, nil, nil
	heir.Origin, heir.node, heir.parent = origin, node, e
	return &heir
}

// line returns the line of a setting, or of the rule or the policy that it is missing in.
func (e *Entry) line(rule, setting string) (line int, stated bool) {
	in := e.node
	if rule != "" || setting == "id" {
		var own struct {
			Rules   []yaml.Node
			InDoubt []yaml.Node `yaml:"inDoubt"`
		}
		_ = e.node.Decode(&own)
		for _, item := range slices.Concat(own.Rules, own.InDoubt) {
			var head struct{ ID string }
			if _ = item.Decode(&head); head.ID == rule {
				in = item
			}
		}
	}
	var fields map[string]yaml.Node
	_ = in.Decode(&fields)
	if value, stated := fields[setting]; stated {
		return value.Line, true
	}
	return in.Line, false
}

// settings returns what the policy is made of. It calls fault with what cannot be read of it.
func (e *Entry) settings(fault func(setting string, problem text.Message)) retry.Settings {
	s := retry.Settings{
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
		fault("onEmptyError", text.Messagef("must be reject or unknown"))
	}
	for _, t := range e.Targets {
		target, err := retry.ParseTarget(t.KPI, t.Target, t.Source)
		if err != nil {
			fault("targets", text.Messagef("%s", err.Error()))
			continue
		}
		s.Targets = append(s.Targets, target)
	}
	var err error
	if s.Zone, err = time.LoadLocation(e.TimeZone); err != nil || e.TimeZone == "Local" {
		fault("timeZone", text.Messagef("is %s, which is no zone such "+
			"as %s", quoted(e.TimeZone), defaults.TimeZone))
		s.Zone = time.UTC // so that the rest is checked
	}
	return s
}
