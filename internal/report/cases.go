package report

import (
	"fmt"
	"strings"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/text"
)

// CaseResults are what policies made of a file of cases. Its JSON form is stable: names are added, never
// changed.
type CaseResults struct {
	File  string       `json:"file"`
	Cases []CaseResult `json:"cases"`
}

// CaseResult is a case, and what its policy makes of it.
type CaseResult struct {
	policy.Case
	Got policy.Answer `json:"got"`
}

// differences returns what is wanted and what there is, as a diff; empty if that is the same.
func (r *CaseResult) differences() (diff string) {
	for _, d := range [][3]string{
		{"class", r.Class, r.Got.Class},
		{"rule", r.Rule, r.Got.Rule},
		{"wait", r.Wait, r.Got.Wait},
	} {
		if d[1] != "" && d[1] != d[2] {
			diff += fmt.Sprintf("  - %s: %s\n  + %[1]s: %[3]s\n", d[0], text.Line(d[1]), text.Line(d[2]))
		}
	}
	return diff
}

// Failed returns how many answers differ from what is wanted.
func (r CaseResults) Failed() (n int) {
	for i := range r.Cases {
		if r.Cases[i].differences() != "" {
			n++
		}
	}
	return n
}

// Text words the answers that differ, as a diff.
func (r CaseResults) Text() string {
	var b strings.Builder
	for i := range r.Cases {
		if c := &r.Cases[i]; c.differences() != "" {
			asked := text.Shorten(c.Case.Text, 200)
			b.WriteString(text.Wrap(fmt.Sprintf("%s:%d: policy %s: %q", r.File, c.Line, c.Policy, asked), ""))
			b.WriteString(c.differences())
		}
	}
	fmt.Fprintf(&b, "%s, %d failed.\n", text.Count(len(r.Cases), "case"), r.Failed())
	return b.String()
}
