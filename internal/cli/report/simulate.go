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
func (s *Simulation) Text() string {
	var b strings.Builder
	rows := [][]string{{"POLICY", "ACCEPTED", "GIVEN UP", "IN VAIN", "A MINUTE", "MEDIAN", "95 %"}}
	for i, r := range s.Policies {
		named := filepath.Base(s.named[i])
		b.WriteString(text.Wrap(fmt.Sprintf("%s: policy %s, version %s, takes the error for %s (rule %s).",
			text.Line(named), r.Policy, r.Version, r.Class, r.RuleID), ""))
		rows = append(rows, []string{
			named,
			s.share(r.Accepted),
			s.share(r.GivenUp),
			fmt.Sprint(r.InVain),
			fmt.Sprint(r.InAMinute),
			spanOrDash(r.Median),
			spanOrDash(r.P95),
		})
	}
	return b.String() + "\n" + text.Table("", rows) + `
IN VAIN: retries in an outage. A MINUTE: the most retries within any minute.
MEDIAN, 95 %: from the first failure to the acceptance.
`
}

// share is a number of claims and its part of all, which is 100 % only for all.
func (s *Simulation) share(claims int) string {
	return fmt.Sprintf("%d (%d %%)", claims, 100*claims/s.Claims)
}

func spanOrDash(seconds int64) string {
	if seconds == 0 {
		return "-"
	}
	return text.About(time.Duration(seconds) * time.Second)
}
