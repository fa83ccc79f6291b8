package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/simulate"
	"hospital.example/analyze-retry/internal/text"
)

// Simulation is what simulate answers. Its JSON form is stable: names are added, never changed.
type Simulation struct {
	Claims int    `json:"claims"`
	Error  string `json:"submissionError"`
	// Policies are those that are compared, in the order in which they were named.
	Policies []*simulate.Result `json:"policies"`

	named    []string
	scenario simulate.Scenario
}

// SimulationOf returns the answer about a scenario, without a policy.
func SimulationOf(s simulate.Scenario) *Simulation {
	return &Simulation{Claims: s.Claims, Error: s.Error, scenario: s}
}

// Add adds how it went under a policy, which was named by its name or a file.
func (s *Simulation) Add(named string, r *simulate.Result) {
	s.Policies, s.named = append(s.Policies, r), append(s.named, named)
}

// Text words the simulation.
func (s *Simulation) Text() string {
	var down []string
	for _, o := range s.scenario.Outages {
		down = append(down, outageWords(o))
	}
	var b strings.Builder
	b.WriteString(text.Wrap(fmt.Sprintf("%s submitted over %s; the insurer is down %s; every failure says %q.", text.Count(s.Claims, "claim"),
		text.Span(s.scenario.Arrivals()), strings.Join(down, " and "), english.shown(s.Error)), ""))
	rows := [][]string{{"POLICY", "ACCEPTED", "GIVEN UP", "IN VAIN", "IN A MINUTE", "MEDIAN", "95 %"}}
	for i, r := range s.Policies {
		head := r.Policy
		if slices.ContainsFunc(s.Policies, func(other *simulate.Result) bool { return other != r && other.Policy == head }) {
			head = s.named[i]
		}
		b.WriteString(text.Wrap(fmt.Sprintf("Policy %s, version %s, takes the error for %s (rule %s).", head, r.Version, r.Class, r.RuleID), ""))
		rows = append(rows, []string{
			text.Shorten(filepath.Base(head), 12), s.share(r.Accepted), s.share(r.GivenUp),
			fmt.Sprint(r.InVain), fmt.Sprint(r.InAMinute), spanOrDash(r.Median), spanOrDash(r.P95),
		})
	}
	return b.String() + "\n" + text.Table("", rows) + `
IN VAIN: retries in an outage. IN A MINUTE: the most retries within any minute.
MEDIAN, 95 %: from the first failure to the acceptance.
`
}

func outageWords(o simulate.Outage) string {
	if o.Begin == 0 {
		return "for " + text.Span(o.End)
	}
	return fmt.Sprintf("for %s from %s on", text.Span(o.End-o.Begin), text.Span(o.Begin))
}

// share is a number of claims and its part of all, which is 100 % only for all.
func (s *Simulation) share(claims int) string {
	if claims == s.Claims {
		return fmt.Sprintf("%d (100 %%)", claims)
	}
	return fmt.Sprintf("%d (%.1f %%)", claims, min(100*float64(claims)/float64(s.Claims), 99.9))
}

func spanOrDash(seconds int64) string {
	if seconds == 0 {
		return "-"
	}
	return text.About(time.Duration(seconds) * time.Second)
}
