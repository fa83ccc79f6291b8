package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
)

func newSimulate() *cobra.Command {
	command := &cobra.Command{
		Use:   "simulate --outage SPAN",
		Short: "Play a policy against an outage, with invented claims",
		Long: `Invents claims, lets the insurer be down for a while, and asks the policy for
every decision: how many claims are accepted after all, how long that takes, how
many tries are in vain, and how large the waves of resubmissions are, beside
those of the same policy without jitter. It asks no broker and no store.

An outage is a SPAN from the start (3h), or BEGIN+SPAN (8h+2h begins 8 hours
after the start and lasts 2). Spans are written 90s, 5m, 24h or PT5M.

The claims are submitted at times of chance until the first outage is over, or
over the time that --arrivals says (0s: all at once, at the start). In an outage
every try fails, else none does, unless --failure-rate says so. A try takes no
time. All chance comes from --seed: the same seed gives the same claims, to both
policies of a comparison.`,
		Example: `  worker simulate --outage 3h
  worker simulate --outage 39h --policy tiss --compare slow.yaml --svg out.svg
  worker simulate --outage 3h --outage 8h+2h --arrivals 24h --claims 100000
  worker simulate --outage 1h --error "HTTP 503" --json | jq .policies[0].tries`,
		Args: noArgs,
	}
	var asked simulation
	flags := command.Flags()
	flags.StringVar(&asked.policy, "policy", "tiss", policyHelp)
	flags.StringVar(&asked.compare, "compare", "", "another policy, to compare with: as --policy")
	flags.Var(&asked.outages, "outage", "when the insurer is down; repeat for several")
	flags.IntVar(&asked.scenario.Claims, "claims", 10_000, "how many claims to invent")
	flags.Var(&asked.arrivals, "arrivals", "over which time the claims are first submitted")
	flags.StringVar(&asked.scenario.Error, "error", "TIMEOUT", "text of every failure")
	flags.Float64Var(&asked.scenario.FailureRate, "failure-rate", 0, "share of the tries that fail without an outage too")
	flags.Uint64Var(&asked.scenario.Seed, "seed", 1, "where all chance comes from")
	flags.StringVar(&asked.svg, "svg", "", "draw the waves and the schedule into this file too")
	asJSON := flags.Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, _ []string) error {
		s, err := asked.run(command)
		if err != nil {
			return err
		}
		if asked.svg != "" {
			if err := os.WriteFile(asked.svg, []byte(s.svg()), 0o600); err != nil {
				return fmt.Errorf("picture: %w", err)
			}
		}
		return printAnswer(command, *asJSON, s, s.text())
	}
	return command
}

// simulation is what is asked of simulate.
type simulation struct {
	policy, compare, svg string
	outages              outages
	arrivals             wait
	scenario             simulate.Scenario
}

func (a *simulation) run(command *cobra.Command) (*simulated, error) {
	if len(a.outages) == 0 {
		return nil, usageError{errors.New("--outage is missing: say how long the insurer is down, such as --outage 3h")}
	}
	slices.SortFunc(a.outages, func(a, b simulate.Outage) int { return cmp.Compare(a.Begin, b.Begin) })
	a.scenario.Outages = a.outages
	a.scenario.Arrivals = a.outages[0].End
	if a.arrivals.given {
		a.scenario.Arrivals = a.arrivals.Duration
	}
	if err := a.scenario.Check(); err != nil {
		return nil, usageError{err}
	}
	names := []string{a.policy}
	if a.compare != "" {
		names = append(names, a.compare)
	}
	var policies []*retry.Policy
	for _, name := range names {
		p, err := policyByName(command.Context(), name)
		if err != nil {
			return nil, err
		}
		policies = append(policies, p)
	}
	plays, err := playAll(command, policies, a.scenario)
	if err != nil {
		return nil, err
	}
	return simulatedOf(a.scenario, plays), nil
}

// play is a policy's simulation, beside that of the same policy without jitter.
type play struct {
	policy      *retry.Policy
	with, plain *simulate.Result
}

func playAll(command *cobra.Command, policies []*retry.Policy, s simulate.Scenario) ([]play, error) {
	draw, clearBar := barOn(command.ErrOrStderr(), "simulating")
	defer clearBar()
	plays := make([]play, len(policies))
	all := float64(2 * len(policies) * s.Claims)
	var claims atomic.Int64
	group, ctx := errgroup.WithContext(command.Context())
	start := func(p *retry.Policy, into **simulate.Result) {
		group.Go(func() (err error) {
			before := 0
			*into, err = simulate.Run(p, s, func(done int) error {
				draw(float64(claims.Add(int64(done-before))) / all)
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
		plays[i].policy = p
		start(p, &plays[i].with)
		start(plain, &plays[i].plain)
	}
	return plays, group.Wait()
}

// outages is a flag that may be given several times.
type outages []simulate.Outage

// Set reads SPAN or BEGIN+SPAN.
func (o *outages) Set(text string) error {
	begin, length, later := strings.Cut(text, "+")
	if !later {
		begin, length = "0s", text
	}
	from, err := policy.ParseDuration(begin)
	if err != nil {
		return fmt.Errorf("%q in it %w", begin, err)
	}
	lasts, err := policy.ParseDuration(length)
	if err != nil {
		return fmt.Errorf("%q in it %w", length, err)
	}
	*o = append(*o, simulate.Outage{Begin: from, End: from + lasts})
	return nil
}

// String writes what was given.
func (o *outages) String() string {
	var all []string
	for _, one := range *o {
		all = append(all, outageWords(one))
	}
	return strings.Join(all, ", ")
}

// Type names the notation in the help.
func (o *outages) Type() string { return "[BEGIN+]SPAN" }

// wait is a flag for a span of time in the notation of a policies file.
type wait struct {
	time.Duration
	given bool
}

// Set reads the notation.
func (w *wait) Set(text string) (err error) {
	w.given = true
	if w.Duration, err = policy.ParseDuration(text); err != nil {
		return fmt.Errorf("that %w", err)
	}
	return nil
}

// String writes what was given.
func (w *wait) String() string {
	if !w.given {
		return ""
	}
	return retry.FormatDuration(w.Duration)
}

// Type names the notation in the help.
func (w *wait) Type() string { return "SPAN" }
