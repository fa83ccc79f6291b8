package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) claims() *cobra.Command {
	command := &cobra.Command{
		Use:   "claims",
		Short: "List where every claim is, and for how long",
		Long: `Lists the claims that failed and have not ended, the oldest first: waiting for
their next retry, overdue (its time has come, and nothing was heard since),
stopped by a BPMN error, dead-letter, incident (the input was rejected), or
redriven by a person.

--state submitted and --state abandoned list claims that ended, without --from
those of the 30 days before --to or before now.`,
		Example: `  worker claims --state stopped,dead-letter --older-than 2d`,
	}
	flags := command.Flags()
	query := claims.Query{}
	states := flags.StringSlice("state", nil, "only these states, with commas between them")
	flags.StringVar(&query.Policy, "policy", "", "only claims about which this policy decided last")
	older := spanFlag(flags, "older-than", "", "only open claims so old")
	periodIn := periodFlags(command)
	csv := flags.Bool("csv", false, "print CSV")
	p.forPeople(command, func(c *call, printer *text.Printer) (any, string, error) {
		for _, name := range *states {
			known := slices.Concat(claims.OpenStandings(), claims.EndedStandings())
			if !slices.Contains(known, audit.Standing(name)) {
				return nil, "", usageError{fmt.Errorf("--state is %q; known are %v", name, known)}
			}
			query.States = append(query.States, audit.Standing(name))
		}
		now := p.now()
		within := periodIn(now, printer.Location())
		query.From, query.To, query.OlderThan = within.from, within.to, *older
		all, err := claims.List(c.Context(), c.store, query, now)
		if err != nil {
			return nil, "", err
		}
		list := report.Claims{Total: len(all), Claims: all}
		if *csv {
			var b strings.Builder
			err := report.ClaimsCSV(&b, all)
			return list, b.String(), err
		}
		return list, list.Text(printer, now), nil
	})
	command.MarkFlagsMutuallyExclusive("csv", "json")
	return command
}
