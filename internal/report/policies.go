package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// PolicySummary is a policy in a list. Its JSON form is stable: names are added, never changed. Durations are ISO 8601.
type PolicySummary struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Origin      string `json:"origin"`
	Description string `json:"description,omitempty"`
	Source      string `json:"source,omitempty"`
	MaxRetries  int    `json:"maxRetries"`
	// The waits, and their sum; absent of a policy without retries.
	ShortestWait  isoDuration `json:"shortestWait,omitempty"`
	LongestWait   isoDuration `json:"longestWait,omitempty"`
	ShortestInAll isoDuration `json:"shortestInAll,omitempty"`
	LongestInAll  isoDuration `json:"longestInAll,omitempty"`

	waits []retry.Scheduled
}

// Policies returns the policies that are known.
func Policies(set *policy.Set) []PolicySummary {
	list := []PolicySummary{}
	for p := range set.All() {
		list = append(list, summarise(set, p))
	}
	return list
}

func summarise(set *policy.Set, p *retry.Policy) PolicySummary {
	entry, _ := set.Entry(p.Name)
	s := PolicySummary{
		Name: p.Name, Version: p.Version(), Origin: set.Origin(p.Name),
		Description: entry.Description, Source: entry.Source, MaxRetries: p.MaxRetries,
		waits: slices.Collect(retry.Schedule(p, retry.Request{}, time.Unix(0, 0))),
	}
	for _, w := range s.waits {
		if s.ShortestWait == 0 || isoDuration(w.Shortest) < s.ShortestWait {
			s.ShortestWait = isoDuration(w.Shortest)
		}
		s.LongestWait = max(s.LongestWait, isoDuration(w.Longest))
		s.ShortestInAll, s.LongestInAll = isoDuration(w.TotalShortest), isoDuration(w.TotalLongest)
	}
	return s
}

// ShownPolicy is one policy in full.
type ShownPolicy struct {
	PolicySummary
	Schedule []isoWait        `json:"schedule"`
	Findings []policy.Finding `json:"findings"`
	// Policy is the policy as a file would state it: {"policies": [...]} around it is a policies file.
	Policy policy.Entry `json:"policy"`

	policy *retry.Policy
}

// PolicyInFull returns one policy in full.
func PolicyInFull(set *policy.Set, p *retry.Policy) ShownPolicy {
	s := ShownPolicy{PolicySummary: summarise(set, p), Schedule: []isoWait{}, Findings: set.Lint(p.Name, 0), policy: p}
	s.Policy, _ = set.Entry(p.Name)
	if s.Findings == nil {
		s.Findings = []policy.Finding{} // in JSON a list, even where it is empty
	}
	for _, w := range s.waits {
		w.Wait, w.Total = 0, 0 // of no claim
		s.Schedule = append(s.Schedule, isoOf(&w))
	}
	return s
}

// PoliciesText lists policies.
func PoliciesText(list []PolicySummary) string {
	width := 0
	for _, s := range list {
		width = max(width, len(s.Name)+2)
	}
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		label := func(name, raw string) { b.WriteString(text.Hanging(fmt.Sprintf("%-*s", width, name), raw)) }
		label(s.Name, s.tries())
		if s.Description != "" {
			label("", text.Line(s.Description))
		}
		label("", s.origin())
	}
	return b.String()
}

func (s PolicySummary) tries() string {
	if s.MaxRetries == 0 {
		return "no retries"
	}
	return fmt.Sprintf("%s, waits of %s, %s in all", text.Count(s.MaxRetries, "retry"),
		text.Range(time.Duration(s.ShortestWait), time.Duration(s.LongestWait)), text.Range(time.Duration(s.ShortestInAll), time.Duration(s.LongestInAll)))
}

func (s PolicySummary) origin() string {
	raw := fmt.Sprintf("%s, version %s", text.Line(s.Origin), s.Version)
	if s.Source != "" {
		raw += ", from " + text.Line(s.Source)
	}
	return raw
}

// Text words the policy.
func (s ShownPolicy) Text() string {
	p := s.policy
	var b labelled
	b.label("Policy", "%s, %s", s.Name, s.origin())
	if s.Description != "" {
		b.label("", "%s", text.Line(s.Description))
	}
	b.label("Tries", "%s", s.tries())
	b.label("Waits", "base %s, factor %g, min %s, max %s, %s, in whole %ss", text.Span(p.Base), p.Factor, text.Span(p.Min), text.Span(p.Max),
		jitterWords(p.Jitter), s.Policy.Precision)
	if p.Deadline > 0 {
		b.label("Deadline", "%s after the first failure", text.Span(p.Deadline))
	}
	b.label("Input", "%s", s.input())
	for i, t := range s.Policy.Targets {
		b.label([]string{"Targets", ""}[min(i, 1)], "%s", targetWords(t))
	}
	if len(s.waits) > 0 {
		b.WriteString("\n" + scheduleTable(p, s.waits, bandOnly))
	}
	b.WriteString(rulesText("Rules, of which the first that matches decides", s.Policy.Rules))
	fmt.Fprintf(&b, "\nNo rule matches: %s\n", p.Unknown)
	b.WriteString(rulesText("Submission may have landed: advice CHECK_STATUS", s.Policy.InDoubt))
	if len(s.Findings) > 0 {
		b.WriteString("\nFindings of worker policies lint:\n" + findingsText("  ", s.Findings))
	}
	return b.String()
}

func jitterWords(share float64) string {
	if share == 0 {
		return "no jitter"
	}
	return fmt.Sprintf("jitter of %g", share)
}

func targetWords(t policy.Target) string {
	s := t.KPI + " " + t.Target
	if t.Source != "" {
		s += " (" + text.Line(t.Source) + ")"
	}
	return s
}

func (s ShownPolicy) input() string {
	p := s.policy
	raw := "claimId is one word"
	if p.IDs == retry.ClaimIDs {
		raw = "claimId is CLM-<any>-<digits>"
	}
	if p.AcceptEmptyError {
		raw += "; a blank error text is an unknown error"
	} else {
		raw += "; a blank error text is invalid"
	}
	raw += "; a time without a zone is of " + s.Policy.TimeZone
	if p.JobOverrides {
		raw += "; max_attempts, retry_delay and max_retry_delay of a job override"
	}
	return raw
}

// rulesText lists rules in their order.
func rulesText(title string, rules []retry.Rule) string {
	var b strings.Builder
	for i, r := range rules {
		if i == 0 {
			b.WriteString("\n" + title + "\n")
		}
		fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(fmt.Sprintf("%-9s %s", r.Class, r.ID)))
		b.WriteString(text.Wrap(ruleWords(r), "      "))
	}
	return b.String()
}

func ruleWords(r retry.Rule) string {
	s := conditionWords(&r.Condition)
	if r.Unless != nil {
		s += "; unless " + conditionWords(r.Unless)
	}
	if r.Source != "" {
		s += " (" + text.Line(r.Source) + ")"
	}
	return s
}

// conditionWords words each field of a condition that is stated.
func conditionWords(c *evidence.Condition) string {
	var parts []string
	add := func(name, s, in string) {
		if in != "" {
			s += " in an insurer's " + in
		}
		if s != "" {
			parts = append(parts, name+" "+text.Line(s))
		}
	}
	for field, value := range reflect.ValueOf(c).Elem().Fields() {
		name := field.Tag.Get("yaml")
		switch v := value.Interface().(type) {
		case []string:
			add(name, strings.Join(v, ", "), "")
		case *evidence.GlosaCondition:
			if v != nil {
				add(name, v.String(), v.In)
			}
		case *evidence.TermsCondition:
			if v != nil {
				add(v.Table, strings.Join(v.Sign, ", "), v.In)
			}
		}
	}
	return strings.Join(parts, "; ")
}

// FindingsText words findings, each with what to do about it.
func FindingsText(findings []policy.Finding) string {
	if len(findings) == 0 {
		return "No findings.\n"
	}
	return findingsText("", findings)
}

func findingsText(indent string, findings []policy.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		where := text.Line(f.File)
		if f.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, f.Line)
		}
		fmt.Fprintf(&b, "%s%s: %s %s\n", indent, where, f.Severity, f.Check)
		what := f.Problem
		if f.Rule != "" {
			what = "rule " + f.Rule + ": " + what
		}
		if f.Policy != "" {
			what = "policy " + f.Policy + ": " + what
		}
		if !strings.HasSuffix(what, "?") { // did you mean ...?
			what += "."
		}
		b.WriteString(text.Wrap(text.Line(what), indent+"    "))
		if f.Advice != "" {
			b.WriteString(text.Wrap("What to do: "+f.Advice+".", indent+"    "))
		}
	}
	return b.String()
}
