package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

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
	Schedule []isoWait     `json:"schedule"`
	Findings text.Findings `json:"findings"`
	// Policy is the policy as a file would state it: {"policies": [...]} around it is a policies file.
	Policy policy.Entry `json:"policy"`

	policy *retry.Policy
}

// PolicyInFull returns one policy in full.
func PolicyInFull(set *policy.Set, p *retry.Policy) ShownPolicy {
	s := ShownPolicy{PolicySummary: summarise(set, p), Schedule: []isoWait{}, Findings: set.Lint(p.Name, 0), policy: p}
	s.Policy, _ = set.Entry(p.Name)
	if s.Findings == nil {
		s.Findings = text.Findings{} // in JSON a list, even where it is empty
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
		text.Range(time.Duration(s.ShortestWait), time.Duration(s.LongestWait)),
		text.Range(time.Duration(s.ShortestInAll), time.Duration(s.LongestInAll)))
}

func (s PolicySummary) origin() string {
	raw := fmt.Sprintf("%s, version %s", text.Line(s.Origin), s.Version)
	if s.Source != "" {
		raw += ", from " + text.Line(s.Source)
	}
	return raw
}

// Text words the policy: its waits, and all of it as a file states it.
func (s ShownPolicy) Text() string {
	var b labelled
	b.label("Policy", "%s, %s", s.Name, s.origin())
	b.label("Tries", "%s", s.tries())
	if len(s.waits) > 0 {
		b.WriteString("\n" + scheduleTable(s.policy, s.waits, bandOnly))
	}
	b.WriteString("\nAs a file states it, with all that it inherits and all defaults:\n\n" + s.file())
	if len(s.Findings) > 0 {
		b.WriteString("\nFindings of worker policies lint:\n\n" + s.Findings.Text(""))
	}
	return b.String()
}

// file returns the policies file with this policy.
func (s ShownPolicy) file() string {
	var node yaml.Node
	written, err := json.Marshal(map[string][]policy.Entry{"policies": {s.Policy}})
	if err == nil {
		err = yaml.Unmarshal(written, &node) // JSON is YAML
	}
	const levels = 6 // document, fields, policies, one, its rules, one
	spread(&node, levels)
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err == nil {
		err = encoder.Encode(&node)
	}
	if err != nil {
		return err.Error() + "\n" // a policy that was read can be written
	}
	var wrapped strings.Builder
	for line := range strings.Lines(b.String()) {
		// In YAML a text and a list in brackets may go on in a line that is indented more.
		if words := strings.TrimLeft(line, " "); utf8.RuneCountInString(line) > text.Columns {
			indent := line[:len(line)-len(words)]
			line = indent + strings.TrimLeft(text.Wrap(words, indent+"    "), " ")
		}
		wrapped.WriteString(line)
	}
	return wrapped.String()
}

// spread writes YAML over lines, so many levels deep, and texts without the quotes that they do not need.
func spread(node *yaml.Node, levels int) {
	if node.Style = 0; levels <= 0 && node.Kind != yaml.ScalarNode {
		node.Style = yaml.FlowStyle
	}
	for _, inner := range node.Content {
		spread(inner, levels-1)
	}
}
