package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry/simulate"
	"hospital.example/analyze-retry/internal/text"
)

// Simulation is what simulate answers. Its JSON form is stable: names are added, never changed.
type Simulation struct {
	Claims int    `json:"claims"`
	Error  string `json:"submissionError"`
	// Policies are those that are compared, in the order in which they were named.
	Policies []*simulate.Result `json:"policies"`

	named []string
}

// Add adds how it went under a policy, which was named by its name or a file.
func (s *Simulation) Add(named string, r *simulate.Result) {
	s.Policies, s.named = append(s.Policies, r), append(s.named, named)
}

// Text words the simulation, each policy as it was named.
func (s *Simulation) Text(p *text.Printer) string {
	var b strings.Builder
	rows := [][]string{{
		p.Sprintf("POLICY"),
		p.Sprintf("ACCEPTED"),
		p.Sprintf("GIVEN UP"),
		p.Sprintf("IN VAIN"),
		p.Sprintf("A MINUTE"),
		p.Sprintf("MEDIAN"),
		"95 %",
	}}
	span := func(seconds int64) string {
		if seconds == 0 {
			return "-"
		}
		return p.About(time.Duration(seconds) * time.Second)
	}
	for i, r := range s.Policies {
		named := filepath.Base(s.named[i])
		b.WriteString(text.Wrap(p.Sprintf("%s: policy %s, version %s, takes the error for %s (rule %s).",
			text.Line(named), r.Policy, r.Version, p.Name("class", string(r.Class)), r.RuleID), ""))
		rows = append(rows, []string{
			named,
			s.share(r.Accepted),
			s.share(r.GivenUp),
			fmt.Sprint(r.InVain),
			fmt.Sprint(r.InAMinute),
			span(r.Median),
			span(r.P95),
		})
	}
	return b.String() + "\n" + text.Table("", rows) + "\n" + text.Wrap(p.Sprintf(
		"IN VAIN: retries in an outage. A MINUTE: the most retries within any minute. "+
			"MEDIAN, 95 %%: from the first failure to the acceptance."), "")
}

// share is a number of claims and its part of all, which is 100 % only for all.
func (s *Simulation) share(claims int) string {
	return fmt.Sprintf("%d (%d %%)", claims, 100*claims/s.Claims)
}
