package policy

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Case is an error text and what a policy is to make of it. What is empty of the answer is not compared.
type Case struct {
	// Text is the error text, and RetryCount how often the claim was tried again.
	Text       string `yaml:"text" json:"text"`
	RetryCount int    `yaml:"retryCount" json:"retryCount"`
	// Policy is the name of the policy; empty for the default of the command.
	Policy string `yaml:"policy" json:"policy"`
	Answer `yaml:",inline"`
	// Line is the place in the file, from 1.
	Line int `yaml:"-" json:"line"`
}

// Answer is what a policy makes of a text.
type Answer struct {
	Class string `yaml:"class" json:"class,omitempty"`
	Rule  string `yaml:"rule" json:"rule,omitempty"`
	// Wait is the band of the next wait: 8m-12m, 5m where it is one, or none.
	Wait string `yaml:"wait" json:"wait,omitempty"`
}

// ParseCases reads a file of cases. The error is [text.Findings].
func ParseCases(file string, content []byte) ([]Case, error) {
	f := form{file: file}
	var list struct {
		Cases []yaml.Node `yaml:"cases"`
	}
	f.decode(content, &list)
	var cases []Case
	for _, node := range list.Cases {
		one := Case{Line: node.Line}
		if right := f.fill(&one, &node); right && one.Answer == (Answer{}) {
			f.add(node.Line, text.Messagef("the case states none of class, rule and wait"))
		}
		one.Wait = spelt(one.Wait)
		cases = append(cases, one)
	}
	return cases, f.err()
}

// spelt returns a band of waits as [Case.Of] writes it: 64m-96m is 1h4m-1h36m.
func spelt(wait string) string {
	bounds := strings.Split(wait, "-")
	for i, bound := range bounds {
		if d, err := retry.ParseDuration(strings.TrimSpace(bound)); err == nil {
			bounds[i] = retry.Duration(d).String()
		}
	}
	return strings.Join(slices.Compact(bounds), "-")
}

// Of returns what a policy makes of the case at a time.
func (c *Case) Of(p *retry.Policy, now time.Time) Answer {
	found := p.Classify(c.Text)
	a := Answer{Class: string(found.Class), Rule: found.ID, Wait: "none"}
	request := retry.Request{SubmissionError: c.Text, RetryCount: c.RetryCount}
	if ahead := retry.Schedule(p, request, now); len(ahead) > 0 {
		next := ahead[0].Wait()
		if a.Wait = retry.Duration(next.Shortest).String(); next.Shortest != next.Longest {
			a.Wait += "-" + retry.Duration(next.Longest).String()
		}
	}
	return a
}
