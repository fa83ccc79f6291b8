package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
	"hospital.example/analyze-retry/internal/term"
)

func newSimulate() *cobra.Command {
	command := &cobra.Command{
		Use:   "simulate --outage SPAN",
		Short: "Play a policy against an outage, with invented claims",
		Long: `Invents claims, lets the insurer be down for a while, and asks the policy for
every decision: how many claims are accepted after all, how long that takes, how
many tries are in vain, and how large the waves of resubmissions are, compared
with those of the same policy without jitter. It asks no broker and no store.

An outage is a SPAN from the start (3h), or BEGIN+SPAN (8h+2h begins 8 hours
after the start and lasts 2). Spans are written 90s, 5m, 24h or PT5M.

The claims are submitted at random times until the first outage is over, or over
the time of --arrivals (0s: all at once, at the start). In an outage every try
fails; outside of one the share of --failure-rate does. A try takes no time. The
same --seed gives the same claims, also to both policies of a comparison.`,
		Example: `  worker simulate --outage 3h
  worker simulate --outage 39h --policy tiss --compare slow.yaml --svg out.svg
  worker simulate --outage 3h --outage 8h+2h --arrivals 24h --claims 100000
  worker simulate --outage 1h --error "HTTP 503" --json | jq .policies[0].tries`,
		Args: noArgs,
	}
	var o simulateFlags
	flags := command.Flags()
	flags.StringVar(&o.policy, "policy", "tiss", policyHelp)
	flags.StringVar(&o.compare, "compare", "", "another policy, to compare with: as --policy")
	outageFlag(flags, &o.scenario.Outages)
	flags.IntVar(&o.scenario.Claims, "claims", 10_000, "how many claims to invent")
	spanFlag(flags, &o.scenario.Arrivals, "arrivals", "time over which the claims are first submitted")
	flags.StringVar(&o.scenario.Error, "error", "TIMEOUT", "text of every failure")
	flags.Float64Var(&o.scenario.FailureRate, "failure-rate", 0, "share of the tries that fail outside of outages")
	flags.Uint64Var(&o.scenario.Seed, "seed", 1, "seed of the random numbers")
	flags.StringVar(&o.svg, "svg", "", "draw the waves and the schedule into this file too")
	command.RunE = func(command *cobra.Command, _ []string) error {
		s, err := o.run(command)
		if err != nil {
			return err
		}
		if o.svg != "" {
			if err := os.WriteFile(o.svg, []byte(s.SVG()), 0o600); err != nil {
				return fmt.Errorf("picture: %w", err)
			}
		}
		return printAnswer(command, s, s.Text())
	}
	return withJSON(command, "print one JSON object")
}

// simulateFlags are the flags.
type simulateFlags struct {
	policy, compare, svg string
	scenario             simulate.Scenario
}

func (o *simulateFlags) run(command *cobra.Command) (*report.Simulation, error) {
	outages := o.scenario.Outages
	if len(outages) == 0 {
		return nil, usageError{errors.New("--outage is missing: say how long the insurer is down, such as --outage 3h")}
	}
	slices.SortFunc(outages, func(a, b simulate.Outage) int { return cmp.Compare(a.Begin, b.Begin) })
	if !command.Flags().Changed("arrivals") {
		o.scenario.Arrivals = outages[0].End
	}
	if err := o.scenario.Check(); err != nil {
		return nil, usageError{err}
	}
	names := []string{o.policy}
	if o.compare != "" {
		names = append(names, o.compare)
	}
	var policies []*retry.Policy
	for _, name := range names {
		p, err := policyByName(command.Context(), name)
		if err != nil {
			return nil, err
		}
		policies = append(policies, p)
	}
	plays, err := playAll(command, policies, o.scenario)
	if err != nil {
		return nil, err
	}
	return report.SimulationOf(o.scenario, plays), nil
}

func playAll(command *cobra.Command, policies []*retry.Policy, s simulate.Scenario) ([]report.Play, error) {
	progress := term.NewProgress(command.ErrOrStderr())
	defer progress.Clear()
	plays := make([]report.Play, len(policies))
	all := float64(2 * len(policies) * s.Claims)
	var claims atomic.Int64
	group, ctx := errgroup.WithContext(command.Context())
	start := func(p *retry.Policy, into **simulate.Result) {
		group.Go(func() (err error) {
			before := 0
			*into, err = simulate.Run(p, s, func(done int) error {
				progress.Bar("simulating", float64(claims.Add(int64(done-before)))/all)
				before = done
				return ctx.Err()
			})
			if err != nil && !errors.Is(err, context.Canceled) {
				return usageError{fmt.Errorf("policy %s: %w", p.Name, err)}
			}
			return err
		})
	}
	for i, p := range policies {
		plain, err := simulate.WithoutJitter(p)
		if err != nil {
			return nil, err
		}
		plays[i].Policy = p
		start(p, &plays[i].With)
		start(plain, &plays[i].Plain)
	}
	return plays, group.Wait()
}
