package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
	"hospital.example/analyze-retry/internal/text"
)

// Simulation is what simulate answers. Its JSON form is stable: names are added, never changed. Times are seconds since the
// start of the simulation.
type Simulation struct {
	Claims  int               `json:"claims"`
	Outages []simulatedOutage `json:"outages"`
	Error   string            `json:"submissionError"`
	// Policies are those that are compared, in the order in which they were named.
	Policies []simulatedPolicy `json:"policies"`

	scenario simulate.Scenario
}

type simulatedOutage struct {
	Begin int64 `json:"beginSeconds"`
	End   int64 `json:"endSeconds"`
}

type simulatedPolicy struct {
	named string
	// Policy is the name of the policy.
	Policy         string      `json:"policy"`
	PolicyVersion  string      `json:"policyVersion"`
	Classification retry.Class `json:"errorClassification"`
	RuleID         string      `json:"ruleId"`
	// The claims by how they end, all of them together.
	AtOnce    int `json:"acceptedAtOnce"`
	Survivors int `json:"survivors"`
	Exhausted int `json:"exhausted"`
	Deadline  int `json:"stoppedByDeadline"`
	Permanent int `json:"stoppedAsPermanent"`
	// Tries are all submissions, WastedTries the retries that were made in an outage.
	Tries         int     `json:"tries"`
	TriesPerClaim float64 `json:"triesPerClaim"`
	WastedTries   int     `json:"wastedTries"`
	// From a survivor's first failure to its acceptance; null where there is no survivor.
	P50 *int64 `json:"timeToSuccessP50Seconds"`
	P95 *int64 `json:"timeToSuccessP95Seconds"`
	// The most retries within any minute.
	LargestWave simulatedWave `json:"largestWave"`
}

type simulatedWave struct {
	At      int64 `json:"atSeconds"`
	Retries int   `json:"retries"`
}

// SimulationOf returns the answer about a scenario, without a policy.
func SimulationOf(s simulate.Scenario) *Simulation {
	answer := &Simulation{Claims: s.Claims, Error: s.Error, scenario: s}
	for _, o := range s.Outages {
		answer.Outages = append(answer.Outages, simulatedOutage{seconds(o.Begin), seconds(o.End)})
	}
	return answer
}

// Add adds how it went under a policy, which was named by its name or a file.
func (s *Simulation) Add(named string, p *retry.Policy, r *simulate.Result) {
	one := simulatedPolicy{
		named: named, Policy: p.Name, PolicyVersion: p.Version(), Classification: r.Class.Class, RuleID: r.Class.RuleID,
		AtOnce: r.AtOnce, Survivors: r.Survivors,
		Exhausted: r.Exhausted, Deadline: r.Deadline, Permanent: r.Permanent,
		Tries: r.Tries, TriesPerClaim: float64(r.Tries) / float64(s.Claims), WastedTries: r.Wasted,
		LargestWave: simulatedWave{seconds(r.Largest.At), r.Largest.Retries},
	}
	if r.Survivors > 0 {
		p50, p95 := seconds(r.P50), seconds(r.P95)
		one.P50, one.P95 = &p50, &p95
	}
	s.Policies = append(s.Policies, one)
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

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
	for i := range s.Policies {
		p := &s.Policies[i]
		head := s.head(p)
		b.WriteString(text.Wrap(fmt.Sprintf("Policy %s, version %s, takes the error for %s (rule %s).",
			head, p.PolicyVersion, p.Classification, p.RuleID), ""))
		rows = append(rows, []string{
			text.Shorten(filepath.Base(head), 12), s.share(p.AtOnce + p.Survivors), s.share(p.Exhausted + p.Deadline + p.Permanent),
			fmt.Sprint(p.WastedTries), fmt.Sprint(p.LargestWave.Retries), spanOrDash(p.P50), spanOrDash(p.P95),
		})
	}
	return b.String() + "\n" + text.Table("", rows) + `
IN VAIN: retries in an outage. IN A MINUTE: the most retries within any minute.
MEDIAN, 95 %: from the first failure to the acceptance.
`
}

// head is how a policy is called: by its name, or as it was named where another one has that name too.
func (s *Simulation) head(p *simulatedPolicy) string {
	same := 0
	for i := range s.Policies {
		if s.Policies[i].Policy == p.Policy {
			same++
		}
	}
	if same > 1 {
		return p.named
	}
	return p.Policy
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

func spanOrDash(seconds *int64) string {
	if seconds == nil {
		return "-"
	}
	return text.About(time.Duration(*seconds) * time.Second)
}
