package policy

import (
	"time"

	"hospital.example/analyze-retry/internal/retry"
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

type caseFile struct {
	Cases []Case `yaml:"cases" json:"cases"`
}

// ParseCases reads a file of cases. The error is [Faults].
func ParseCases(file string, text []byte) ([]Case, error) {
	var faults Faults
	var read caseFile
	list := items(faults.decode(text, &read), "cases")
	if faults == nil && len(read.Cases) == 0 {
		faults.add(0, "", "the file holds no cases: it begins with cases: and a list of them")
	}
	if faults != nil {
		return nil, faults.of(file)
	}
	for i, node := range list {
		c := &read.Cases[i]
		if c.Line = node.Line; c.Answer == (Answer{}) {
			faults.add(c.Line, "", "the case states none of class, rule and wait")
		}
	}
	return read.Cases, faults.of(file)
}

// Of returns what a policy makes of the case at a time.
func (c *Case) Of(p *retry.Policy, now time.Time) Answer {
	found := p.Classify(c.Text)
	a := Answer{Class: string(found.Class), Rule: found.RuleID, Wait: "none"}
	for next := range retry.Schedule(p, retry.Request{SubmissionError: c.Text, RetryCount: c.RetryCount}, now) {
		if a.Wait = retry.FormatDuration(next.Shortest); next.Shortest != next.Longest {
			a.Wait += "-" + retry.FormatDuration(next.Longest)
		}
		break
	}
	return a
}
