package policy

import (
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// Case is an error text and what a policy is to make of it. What is empty of the answer is not compared.
type Case struct {
	// Text is the error text, and RetryCount how often the claim was tried again.
	Text       string `yaml:"text" json:"text"`
	RetryCount Whole  `yaml:"retryCount" json:"retryCount"`
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

type caseFile struct {
	Cases []Case `yaml:"cases" json:"cases"`
}

// ParseCases reads a file of cases. The error is [Faults].
func ParseCases(file string, text []byte) ([]Case, error) {
	r := reader{}
	var read caseFile
	root := r.decode(text, &read)
	if r.faults == nil && len(read.Cases) == 0 {
		r.fault(0, "missing", "the file holds no cases: it begins with cases: and a list of them")
	}
	if r.faults != nil {
		return nil, r.faults.ordered(file)
	}
	_, list := child(root, "cases")
	for i, node := range items(list) {
		c := &read.Cases[i]
		c.Line = node.Line
		if c.Answer == (Answer{}) {
			r.fault(c.Line, "missing", "the case states none of class, rule and wait")
		}
		if err := c.spell(); err != nil {
			r.fault(lineOf(node, "wait"), "form", err.Error())
		}
	}
	if r.faults != nil {
		return nil, r.faults.ordered(file)
	}
	return read.Cases, nil
}

// spell writes the wait as [Case.Of] does.
func (c *Case) spell() error {
	if c.Wait == "" || c.Wait == noWait {
		return nil
	}
	from, to, isBand := strings.Cut(c.Wait, "-")
	shortest, err := retry.ParseDuration(strings.TrimSpace(from))
	longest := shortest
	if err == nil && isBand {
		longest, err = retry.ParseDuration(strings.TrimSpace(to))
	}
	if err != nil {
		return fmt.Errorf("%s must be a wait such as 5m, a band such as 8m-12m, or none", quoted(c.Wait))
	}
	c.Wait = band(shortest, longest)
	return nil
}

// noWait is the wait of a claim that is not tried again.
const noWait = "none"

func band(shortest, longest time.Duration) string {
	if shortest == longest {
		return retry.FormatDuration(shortest)
	}
	return retry.FormatDuration(shortest) + "-" + retry.FormatDuration(longest)
}

// Of returns what a policy makes of the case at a time.
func (c *Case) Of(p *retry.Policy, now time.Time) Answer {
	found := p.Classify(c.Text)
	for next := range retry.Schedule(p, retry.Request{SubmissionError: c.Text, RetryCount: int(c.RetryCount)}, now) {
		return Answer{Class: string(found.Class), Rule: found.RuleID, Wait: band(next.Shortest, next.Longest)}
	}
	return Answer{Class: string(found.Class), Rule: found.RuleID, Wait: noWait}
}

// Difference is one thing that a case wants and a policy does not.
type Difference struct {
	Name, Want, Got string
}

// Differences returns what of the wanted answer is another one.
func (a Answer) Differences(got Answer) (all []Difference) {
	for _, d := range []Difference{{"class", a.Class, got.Class}, {"rule", a.Rule, got.Rule}, {"wait", a.Wait, got.Wait}} {
		if d.Want != "" && d.Want != d.Got {
			all = append(all, d)
		}
	}
	return all
}
