package cli

import (
	"context"
	"errors"
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
		Use:     "claims",
		Aliases: []string{"pending"},
		Short:   "List where every claim is, and for how long",
		Long: `Lists the claims that failed and have not ended, the oldest first, by what the
audit trail knows of them:

  waiting      for the time of its next retry
  overdue      that time has come, and nothing was heard since. By minutes it is
               being submitted; by hours the process has lost its timer, was
               cancelled, or its model does not report outcomes
  stopped      the worker threw a BPMN error: retries used up, or error
               permanent. With whom the claim is now, the trail knows only where
               the model says so (task headers onExhausted and onPermanent)
  dead-letter  the same, where the model keeps such claims as dead letters
  incident     its input was rejected
  redriven     a person had it sent again, and nothing was heard since

A claim ends when the process reports so (record-retry-outcome). Those that
ended are listed by --state submitted and --state abandoned; without --from,
those of the 30 days before --to or before now.

A spreadsheet rounds processInstanceKey, which has 16 digits, unless that column
of the CSV is imported as text.

As "worker pending" it lists the claims that wait and those that are overdue.`,
		Example: `  worker claims
  worker claims --state stopped,dead-letter --older-than 2d
  worker claims --state abandoned --month 2026-11 --tz America/Sao_Paulo --csv
  worker claims --json | jq -r '.claims[] | select(.state == "overdue").claimId'`,
		Args: noArgs,
	})
	flags := command.Flags()
	states := flags.StringSlice("state", nil, "only these states, with commas between them")
	policy := flags.String("policy", "", "only claims about which this policy decided last")
	query := claims.Query{}
	older := agoFlag(flags, "older-than", "", "only open claims so old")
	addPeriod(command)
	csv := flags.Bool("csv", false, "print CSV, all pages")
	limit := flags.Int("limit", 50, "claims on a page")
	page := flags.Int("page", 1, "page to print")
	command.RunE = func(command *cobra.Command, _ []string) error {
		var wrong faults
		query.Policy, query.OlderThan = *policy, *older
		for _, name := range *states {
			state := claims.State(name)
			known := slices.Concat(claims.OpenStates(), claims.EndedStates())
			wrong.when(!slices.Contains(known, state), "--state is %q; known are %s", name, strings.Trim(fmt.Sprint(known), "[]"))
			query.States = append(query.States, state)
		}
		const most = 1_000_000
		wrong.when(*limit < 1 || *limit > most, "--limit is %d but must be from 1 to %d", *limit, most)
		wrong.when(*page < 1 || *page > most, "--page is %d but must be from 1 to %d", *page, most)
		wrong.when(*csv && asJSON(command), "give either --csv or --json")
		if wrong != nil {
			return usageError{errors.Join(wrong...)}
		}
		if len(query.States) == 0 && command.CalledAs() == "pending" {
			query.States = []claims.State{claims.Waiting, claims.Overdue}
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
				return printAnswer(command, list, list.Text(p, now, *limit, *page))
			}
		})
	}
	return withJSON(command, "print one JSON object, all pages")
}
