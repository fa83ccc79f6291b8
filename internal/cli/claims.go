package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/text"
)

// countable are the columns by which claims are counted.
var countable = []string{"with", "cause", "policy", "state"}

func (p *program) claims() *cobra.Command {
	command := &cobra.Command{
		Use:   "claims [PART]",
		Short: "List where every claim is, and for how long",
		Long: `Lists the claims that failed and have not ended, the oldest first, or with PART
those with it in their ID, ended ones too: waiting for their next retry, overdue
(its time has come, and nothing was heard since), stopped by a BPMN error,
dead-letter, incident (the input was rejected), or redriven by a person.

--state submitted and --state abandoned list claims that ended, without --from
those of the 30 days before --to or before now.`,
		Example: `  worker claims --state stopped,dead-letter --older-than 2d`,
		Args:    cobra.MaximumNArgs(1),
	}
	flags := command.Flags()
	states := flags.StringSlice("state", nil, "only these states, with commas between them")
	with := flags.String("with", "", "only claims that are with this `TEAM`")
	policy := flags.String("policy", "", "only claims about which this policy decided last")
	by := flags.String("by", "", "count them by with, cause, policy or state")
	older := spanFlag(flags, "older-than", "", "only claims so old")
	periodIn := periodFlags(command)
	csv := flags.Bool("csv", false, "print CSV, in pt-BR as Excel in Brazil reads it")
	p.answers(command, aStore, func(c *call) (any, string, error) {
		column, err := named("by", "column", *by, countable)
		if err != nil {
			return nil, "", err
		}
		now := p.now()
		within := periodIn(now, c.printer.Location())
		query := claims.Query{Part: strings.Join(c.args, ""), From: within.from, To: within.to}
		if *older > 0 {
			query.To = now.Add(1 - *older)
		}
		for _, word := range *states {
			state, err := named("state", "standing", word, claims.Standings())
			if err != nil {
				return nil, "", err
			}
			query.States = append(query.States, state)
		}
		all, err := claims.List(c.Context(), c.store, query, now)
		if err != nil {
			return nil, "", err
		}
		list, err := chosen(all, *with, *policy)
		switch {
		case err != nil:
			return nil, "", err
		case *csv:
			return nil, "", list.CSV(c.OutOrStdout(), c.printer) // its cells are harmless
		case column != "":
			return nil, list.By(c.printer, column).Text(), nil
		}
		return listed{len(list), list}, list.Text(c.printer, now), nil
	})
	command.MarkFlagsMutuallyExclusive("csv", "json", "by")
	for _, end := range []string{"to", "day", "week", "month"} {
		command.MarkFlagsMutuallyExclusive("older-than", end)
	}
	return command
}

// listed is a list of claims. Its JSON form is stable: names are added, never changed.
type listed struct {
	Total  int           `json:"total"`
	Claims report.Claims `json:"claims"`
}

// chosen returns the claims that are with a team and about which a policy decided last; either is empty for
// any. A name has to be known: by the policies in force, by the bundled models, or by a claim.
func chosen(all report.Claims, with, policy string) (report.Claims, error) {
	if with == "" && policy == "" {
		return all, nil
	}
	set, err := policies("")
	if err != nil {
		return nil, err
	}
	teams, names := []string{"billing", "registration", "operations"}, append(set.Names(), claims.NoPolicy)
	for p := range set.All() {
		for i := range p.Rules {
			teams = append(teams, p.Rules[i].Team)
		}
	}
	for i := range all {
		teams, names = append(teams, all[i].HeldBy), append(names, all[i].Policy)
	}
	with, noTeam := named("with", "with", with, teams)
	policy, noPolicy := named("policy", "policy", policy, names)
	return slices.DeleteFunc(all, func(c claims.Claim) bool {
		return with != "" && with != c.HeldBy || policy != "" && policy != c.Policy
	}), cmp.Or(noTeam, noPolicy)
}

// named returns the known name that a word of a flag means: it, or what people call it in a language. Without
// a word it is empty.
func named[Name ~string](flag, group, word string, known []Name) (Name, error) {
	if word == "" {
		return "", nil
	}
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	known = slices.DeleteFunc(known, func(name Name) bool { return name == "" })
	for _, name := range known {
		for _, called := range []string{
			string(name),
			text.In(text.English).Name(group, string(name)),
			text.In(text.Portuguese).Name(group, string(name)),
		} {
			if strings.EqualFold(word, called) {
				return name, nil
			}
		}
	}
	return "", usageError{said{text.Messagef("--%s is %q; known are %s", flag, word, fmt.Sprint(known))}}
}
