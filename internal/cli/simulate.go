package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/retry/simulate"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) simulate() *cobra.Command {
	command := &cobra.Command{
		Use:   "simulate --outage SPAN",
		Short: "Play a policy against an outage, with invented claims",
		Long: `Invents claims that are submitted until an outage is over, lets every try in the
outage fail, and asks the policy for every decision.`,
		Example: `  worker simulate --outage 12h --policy tiss --policy patient.yaml`,
	}
	var s simulate.Scenario
	flags := command.Flags()
	names := flags.StringArray("policy", []string{"tiss"}, policyUsage+"; repeatable")
	outage := spanFlag(flags, "outage", "", "how long the insurer is down")
	flags.IntVar(&s.Claims, "claims", 10_000, "how many claims to invent")
	flags.StringVar(&s.Error, "error", "TIMEOUT", "text of every failure")
	_ = command.MarkFlagRequired("outage") // it is there
	return p.answers(command, language, func(c *call) (any, string, error) {
		s.Outage = *outage
		if err := s.Check(); err != nil {
			return nil, "", usageError{err}
		}
		answer := &simulation{Claims: s.Claims, Error: s.Error}
		for _, name := range *names {
			_, one, err := namedPolicy(name)
			if err != nil {
				return nil, "", err
			}
			answer.Policies = append(answer.Policies, simulate.Run(one, s))
			answer.named = append(answer.named, filepath.Base(name))
		}
		return answer, answer.Text(c.printer), nil
	})
}

// simulation is what simulate answers. Its JSON form is stable: names are added, never changed.
type simulation struct {
	Claims int    `json:"claims"`
	Error  string `json:"submissionError"`
	// Policies are those that are compared, in the order in which they were named.
	Policies []*simulate.Result `json:"policies"`

	named []string // each by its name or a file
}

// Text words the simulation, each policy as it was named.
func (s *simulation) Text(p *text.Printer) string {
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
		b.WriteString(text.Wrap(p.Sprintf("%s: policy %s, version %s, takes the error for %s (rule %s).",
			text.Line(s.named[i]), r.Policy, r.Version, p.Name("class", string(r.Class)), r.RuleID), ""))
		rows = append(rows, []string{
			s.named[i],
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
func (s *simulation) share(claims int) string {
	return fmt.Sprintf("%d (%d %%)", claims, 100*claims/s.Claims)
}
