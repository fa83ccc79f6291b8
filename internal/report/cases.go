package report

import (
	"fmt"
	"strings"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/text"
)

// CaseResults are what policies made of a file of cases. Its JSON form is stable: names are added, never changed.
type CaseResults struct {
	File  string       `json:"file"`
	Cases []CaseResult `json:"cases"`
}

// CaseResult is a case, and what its policy makes of it.
type CaseResult struct {
	policy.Case
	Got policy.Answer `json:"got"`
}

// Failed returns how many answers differ from what is wanted.
func (r CaseResults) Failed() (n int) {
	for i := range r.Cases {
		n += min(len(r.Cases[i].Differences(r.Cases[i].Got)), 1)
	}
	return n
}

// Text words the answers that differ, as a diff.
func (r CaseResults) Text() string {
	var b strings.Builder
	for i := range r.Cases {
		c := &r.Cases[i]
		for n, d := range c.Differences(c.Got) {
			if n == 0 {
				b.WriteString(text.Wrap(fmt.Sprintf("%s:%d: policy %s: %q", r.File, c.Line, c.Policy, text.Shorten(c.Case.Text, 200)), ""))
			}
			fmt.Fprintf(&b, "  - %s: %s\n  + %[1]s: %[3]s\n", d.Name, text.Line(d.Want), text.Line(d.Got))
		}
	}
	fmt.Fprintf(&b, "%s, %d failed.\n", text.Count(len(r.Cases), "case"), r.Failed())
	return b.String()
}
