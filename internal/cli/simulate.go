package cli

import (
	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/retry/simulate"
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
		answer := &report.Simulation{Claims: s.Claims, Error: s.Error}
		for _, name := range *names {
			_, one, err := namedPolicy(name)
			if err != nil {
				return nil, "", err
			}
			answer.Add(name, simulate.Run(one, s))
		}
		return answer, answer.Text(c.printer), nil
	})
}
