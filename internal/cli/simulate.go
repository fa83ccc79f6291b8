package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/simulate"
)

func newSimulate() *cobra.Command {
	command := &cobra.Command{
		Use:   "simulate --outage SPAN",
		Short: "Play a policy against an outage, with invented claims",
		Long: `Invents claims that are submitted until the first outage is over, lets every try
in an outage fail, and asks the policy for every decision. A SPAN is written
90s, 5m, 24h or PT5M; 8h+2h begins 8 hours after the start and lasts 2.`,
		Example: `  worker simulate --outage 12h --policy tiss --compare patient.yaml`,
		Args:    noArgs,
	}
	var names []string // in the order of the flags
	var s simulate.Scenario
	flags := command.Flags()
	add := func(name string) error {
		names = append(names, name)
		return nil
	}
	flags.Var(&notation{"NAME", "", add}, "policy", "policy NAME, or FILE[:NAME] (default "+defaultPolicy+")")
	flags.Var(&notation{"NAME", "", add}, "compare", "one to compare with, as --policy; repeatable")
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
		if !flags.Changed("policy") {
			names = append([]string{defaultPolicy}, names...)
		}
		answer := report.SimulationOf(s)
		for _, name := range names {
			p, err := policyByName(command.Context(), name)
			if err != nil {
				return err
			}
			result, err := simulate.Run(p, s)
			if err != nil && command.Context().Err() == nil {
				err = usageError{fmt.Errorf("policy %s: %w", p.Name, err)}
			}
			if err != nil {
				return err
			}
			answer.Add(name, result)
		}
		return printAnswer(command, answer, answer.Text())
	}
	return withJSON(command, "print one JSON object")
}
