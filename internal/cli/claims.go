package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/report"
)

func newClaims(now clock) *cobra.Command {
	command := forPeople(&cobra.Command{
		Use:   "claims",
		Short: "List where every claim is, and for how long",
		Long: `Lists the claims that failed and have not ended, the oldest first: waiting for
their next retry, overdue (its time has come, and nothing was heard since),
stopped by a BPMN error, dead-letter, incident (the input was rejected), or
redriven by a person.

--state submitted and --state abandoned list claims that ended, without --from
those of the 30 days before --to or before now.`,
		Example: `  worker claims --state stopped,dead-letter --older-than 2d`,
		Args:    noArgs,
	})
	flags := command.Flags()
	query := claims.Query{}
	states := flags.StringSlice("state", nil, "only these states, with commas between them")
	flags.StringVar(&query.Policy, "policy", "", "only claims about which this policy decided last")
	older := agoFlag(command, "older-than", "", "only open claims so old")
	addPeriod(command)
	csv := flags.Bool("csv", false, "print CSV")
	command.RunE = func(command *cobra.Command, _ []string) error {
		query.OlderThan = *older
		for _, name := range *states {
			state := audit.Standing(name)
			known := slices.Concat(claims.OpenStandings(), claims.EndedStandings())
			if !slices.Contains(known, state) {
				return usageError{fmt.Errorf("--state is %q; known are %s", name, strings.Trim(fmt.Sprint(known), "[]"))}
			}
			query.States = append(query.States, state)
		}
		p, err := printerOf(command)
		if err != nil {
			return err
		}
		within, err := periodOf(command, p.Location())
		if err != nil {
			return err
		}
		query.From, query.To = within.from, within.to
		return withStore(command, func(ctx context.Context, _ config.Config, store audit.Store) error {
			now := now()
			all, err := claims.List(ctx, store, query, now)
			switch {
			case err != nil:
				return err
			case *csv:
				return report.ClaimsCSV(command.OutOrStdout(), all)
			default:
				list := report.Claims{Total: len(all), Claims: all}
				return printAnswer(command, list, list.Text(p, now))
			}
		})
	}
	withJSON(command, "print one JSON object")
	command.MarkFlagsMutuallyExclusive("csv", "json")
	return command
}
