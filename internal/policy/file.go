package policy

import (
	"fmt"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// document is a policies file.
type document struct {
	Policies []entry `yaml:"policies"`
}

// entry is one policy as it is written down. What is nil or empty is not stated: it has its default, or is taken over from
// the policy that this one extends.
type entry struct {
	Name          string    `yaml:"name"`
	Description   string    `yaml:"description"`
	Source        string    `yaml:"source"`
	Extends       string    `yaml:"extends"`
	Base          *span     `yaml:"base"`
	Factor        *float64  `yaml:"factor"`
	Min           *span     `yaml:"min"`
	Max           *span     `yaml:"max"`
	Jitter        *jitter   `yaml:"jitter"`
	Precision     precision `yaml:"precision"`
	MaxRetries    *int      `yaml:"maxRetries"`
	Deadline      *span     `yaml:"deadline"`
	TimeZone      string    `yaml:"timeZone"`
	IDs           string    `yaml:"ids"`
	Unknown       string    `yaml:"unknown"`
	OnEmptyError  string    `yaml:"onEmptyError"`
	JobOverrides  *bool     `yaml:"jobOverrides"`
	Rules         []rule    `yaml:"rules"`
	MayHaveLanded []rule    `yaml:"mayHaveLanded"`
}

type jitter struct {
	Mode  string  `yaml:"mode"`
	Share float64 `yaml:"share"`
}

type rule struct {
	ID       string   `yaml:"id"`
	Class    string   `yaml:"class"`
	Contains []string `yaml:"contains"`
	Code     []string `yaml:"code"`
	Pattern  string   `yaml:"pattern"`
	Unless   string   `yaml:"unless"`
	Source   string   `yaml:"source"`
}

// span is a duration in a policies file.
type span time.Duration

// UnmarshalText reads the notation of [ParseDuration].
func (s *span) UnmarshalText(text []byte) error {
	d, err := ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q %w", text, err)
	}
	*s = span(d)
	return nil
}

type precision time.Duration

// UnmarshalText reads minute, second or millisecond.
func (p *precision) UnmarshalText(text []byte) error {
	units := map[string]time.Duration{"minute": time.Minute, "second": time.Second, "millisecond": time.Millisecond}
	unit, known := units[string(text)]
	if !known {
		return fmt.Errorf("%q is no precision: minute, second or millisecond", text)
	}
	*p = precision(unit)
	return nil
}

// extend takes over from the parent what the entry does not state. The entry's rules come before the parent's.
func (e *entry) extend(parent *entry) {
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
	e.MayHaveLanded = slices.Concat(e.MayHaveLanded, parent.MayHaveLanded)
}

func inherit[T comparable](own *T, parents T) {
	if *own == *new(T) {
		*own = parents
	}
}

// DefaultTimeZone is the zone of a policy that names none: that of the hospital (RN-BIL-005).
const DefaultTimeZone = "America/Sao_Paulo"

// policy makes the policy of an entry that is complete. Its error joins all that is wrong with it.
func (e *entry) policy() (*retry.Policy, error) {
	p := retry.Policy{
		Name:             e.Name,
		Base:             time.Duration(valueOr(e.Base, 0)),
		Factor:           valueOr(e.Factor, 2),
		Max:              time.Duration(valueOr(e.Max, 0)),
		Precision:        time.Duration(e.Precision),
		MaxRetries:       valueOr(e.MaxRetries, -1),
		Deadline:         time.Duration(valueOr(e.Deadline, 0)),
		IDs:              retry.IDForm(or(e.IDs, string(retry.ClaimIDs))),
		Unknown:          retry.Class(or(e.Unknown, string(retry.Unknown))),
		AcceptEmptyError: e.OnEmptyError == "unknown",
		JobOverrides:     valueOr(e.JobOverrides, false),
		Rules:            rules(e.Rules),
		MayHaveLanded:    rules(e.MayHaveLanded),
		Jitter:           retry.Jitter{Mode: retry.JitterNone},
	}
	p.Precision = or(p.Precision, time.Minute)
	p.Min = time.Duration(valueOr(e.Min, span(p.Precision)))
	if e.Jitter != nil {
		p.Jitter = retry.Jitter{Mode: retry.JitterMode(e.Jitter.Mode), Share: e.Jitter.Share}
	}
	var err error
	if p.Zone, err = time.LoadLocation(or(e.TimeZone, DefaultTimeZone)); err != nil {
		return nil, &retry.SettingError{Setting: "timeZone", Problem: fmt.Sprintf("is %q, which is no zone such as America/Sao_Paulo", e.TimeZone)}
	}
	return retry.New(p)
}

func rules(written []rule) []retry.Rule {
	made := make([]retry.Rule, len(written))
	for i, r := range written {
		made[i] = retry.Rule{
			ID: r.ID, Class: retry.Class(r.Class), Source: r.Source,
			Matcher: retry.Matcher{Contains: r.Contains, Codes: r.Code, Pattern: r.Pattern, Unless: r.Unless},
		}
	}
	return made
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func or[T comparable](value, otherwise T) T {
	if value == *new(T) {
		return otherwise
	}
	return value
}
