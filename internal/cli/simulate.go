package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/simulate"
)

func (p *program) simulate() *cobra.Command {
	command := &cobra.Command{
		Use:   "simulate --outage SPAN",
		Short: "Play a policy against an outage, with invented claims",
		Long: `Invents claims that are submitted until an outage is over, lets every try in the
outage fail, and asks the policy for every decision.`,
		Example: `  worker simulate --outage 12h --policy tiss --compare patient.yaml`,
	}
	var names []string // in the order of the flags
	var s simulate.Scenario
	flags := command.Flags()
	add := func(name string) error {
		names = append(names, name)
		return nil
	}
	flags.Func("policy", policyUsage+" (default tiss)", add)
	flags.Func("compare", "another `NAME`, to compare with; repeatable", add)
	outage := outageFlag(flags, "how long the insurer is down")
	flags.IntVar(&s.Claims, "claims", 10_000, "how many claims to invent")
	flags.StringVar(&s.Error, "error", "TIMEOUT", "text of every failure")
	_ = command.MarkFlagRequired("outage") // it is there
	return p.answers(command, nothing, func(*call) (any, string, error) {
		s.Outage = *outage
		if err := s.Check(); err != nil {
			return nil, "", usageError{err}
		}
		if !flags.Changed("policy") {
			names = append([]string{"tiss"}, names...)
		}
		answer := report.SimulationOf(s)
		for _, name := range names {
			_, one, err := namedPolicy(name)
			if err != nil {
				return nil, "", err
			}
			result, err := simulate.Run(one, s)
			if err != nil {
				return nil, "", usageError{fmt.Errorf("policy %s: %w", one.Name, err)}
			}
			answer.Add(name, result)
		}
		return answer, answer.Text(), nil
	})
}
