package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
)

func newSimulate() *cobra.Command {
	command := &cobra.Command{
		Use:   "simulate --outage SPAN",
		Short: "Play a policy against an outage, with invented claims",
		Long: `Invents claims that are submitted until the first outage is over, lets every try
in an outage fail, and asks the policy for every decision. A SPAN is written
90s, 5m, 24h or PT5M; 8h+2h begins 8 hours after the start and lasts 2.`,
		Example: `  worker simulate --outage 39h --policy tiss --compare slow.yaml`,
		Args:    noArgs,
	}
	var policy, compare string
	var s simulate.Scenario
	flags := command.Flags()
	flags.StringVar(&policy, "policy", defaultPolicy, policyHelp)
	flags.StringVar(&compare, "compare", "", "another policy, to compare with: as --policy")
	outageFlag(command, &s.Outages)
	flags.IntVar(&s.Claims, "claims", 10_000, "how many claims to invent")
	flags.StringVar(&s.Error, "error", "TIMEOUT", "text of every failure")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if len(s.Outages) == 0 {
			return usageError{errors.New("--outage is missing: say how long the insurer is down, such as --outage 3h")}
		}
		slices.SortFunc(s.Outages, func(a, b simulate.Outage) int { return cmp.Compare(a.Begin, b.Begin) })
		if err := s.Check(); err != nil {
			return usageError{err}
		}
		names := []string{policy}
		if compare != "" {
			names = append(names, compare)
		}
		var policies []*retry.Policy
		for _, name := range names {
			p, err := policyByName(command.Context(), name)
			if err != nil {
				return err
			}
			policies = append(policies, p)
		}
		answer := report.SimulationOf(s)
		for _, p := range policies {
			result, err := simulate.Run(p, s)
			if err != nil && command.Context().Err() == nil {
				err = usageError{fmt.Errorf("policy %s: %w", p.Name, err)}
			}
			if err != nil {
				return err
			}
			answer.Add(p, result)
		}
		return printAnswer(command, answer, answer.Text())
	}
	return withJSON(command, "print one JSON object")
}
