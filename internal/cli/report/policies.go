package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
)

// Policy is one of the policies that are known. Its JSON form is stable: names are added, never changed.
type Policy struct {
	Version string `json:"version"`
	// Origin is the file that it is written in.
	Origin string `json:"origin"`
	// Schedule is its waits, empty of a policy without retries.
	Schedule []isoWait `json:"schedule"`
	// Policy is the policy as a file would state it: {"policies": [...]} around it is a policies file.
	Policy policy.Entry `json:"policy"`
}

// Policies returns the policies that are known.
func Policies(set *policy.Set) []Policy {
	list := []Policy{}
	for p := range set.All() {
		list = append(list, PolicyInFull(set, p))
	}
	return list
}

// PolicyInFull returns one policy.
func PolicyInFull(set *policy.Set, p *retry.Policy) Policy {
	entry, _ := set.Entry(p.Name)
	s := Policy{
		Version:  p.Version(),
		Origin:   entry.Origin,
		Schedule: []isoWait{}, // in JSON a list, also where it is empty
	}
	s.Policy, s.Policy.Extends = entry, "" // it states all
	for w := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
		s.Schedule = append(s.Schedule, isoOf(&w))
	}
	return s
}

// PoliciesText lists policies.
func PoliciesText(p *text.Printer, list []Policy) string {
	var b strings.Builder
	for i := range list {
		s := &list[i]
		b.WriteString(label(s.Policy.Name, s.tries(p)))
		if s.Policy.Description != "" {
			b.WriteString(label("", s.Policy.Description))
		}
		b.WriteString(label("", s.origin(p)) + "\n")
	}
	return b.String()
}

func (s *Policy) tries(p *text.Printer) string {
	if len(s.Schedule) == 0 {
		return p.Sprintf("no retries")
	}
	return p.Sprintf("%d retries in %s", s.Policy.MaxRetries, s.Schedule[len(s.Schedule)-1].total())
}

func (s *Policy) origin(p *text.Printer) string {
	origin := p.Sprintf("%s, version %s", s.Origin, s.Version)
	if s.Policy.Source != "" {
		origin = p.Sprintf("%s, from %s", origin, s.Policy.Source)
	}
	return origin
}

// Text words the policy: its waits, and all of it as a file states it.
func (s *Policy) Text(p *text.Printer) string {
	out := label(p.Sprintf("policy"), s.Policy.Name+", "+s.origin(p)) + label(p.Sprintf("tries"), s.tries(p))
	if len(s.Schedule) > 0 {
		out += "\n" + scheduleTable(p, s.Schedule)
	}
	all := p.Sprintf("As a file states it, with all that it inherits and all defaults:")
	return out + "\n" + text.Wrap(all, "") + "\n" + s.file()
}

// file returns the policies file with this policy.
func (s *Policy) file() string {
	var node yaml.Node
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	written, err := json.Marshal(map[string][]policy.Entry{"policies": {s.Policy}})
	if err = errors.Join(err, yaml.Unmarshal(written, &node)); err == nil { // JSON is YAML
		spread(&node, 6) // document, fields, policies, one, its rules, one
		err = encoder.Encode(&node)
	}
	if err != nil {
		return err.Error() + "\n" // a policy that was read can be written
	}
	return b.String()
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
