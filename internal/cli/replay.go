package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/replay"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/term"
)

func newReplay(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "replay --policy POLICY",
		Short: "Re-run the recorded decisions under another policy",
		Long: `Asks another policy about the decisions of the last days, from the audit store:
which of them it takes otherwise, how many claims it would have saved or lost,
and how many retries it would have wasted.

For single decisions the result is known: the same question, asked again. For
claims it is an estimate, because nobody knows what the insurer would have
answered at another time. It assumes that

  - until the last recorded failure of a claim every other try fails too;
  - from the try on that the insurer accepted, it accepts any other try;
  - to a claim whose retries were used up the insurer is open again when it
    accepts that claim later, or another one with the same trouble: one that
    failed last by the same rule, while this one was failing. The store does
    not know which insurer it was;
  - nobody has corrected anything in between.

Hints and overrides of a job are asked again with it. The texts in the store are
without personal data and cut, and a job's own retryUntil is not in it. It
changes nothing and may run while a worker runs.`,
		Example: `  worker replay --policy slow.yaml --since 30d
  worker replay --policy tiss --of tiss     # what the present tiss would change
  worker replay --policy policies.yaml:slow --json | jq .rounds.savedOthers`,
		Args: noArgs,
	}
	var named, of string
	flags := command.Flags()
	flags.StringVar(&named, "policy", "", policyHelp)
	flags.StringVar(&of, "of", "", "only decisions of the policy of this name (default all)")
	since := sinceFlag(flags, "30d", "how far back to read")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if named == "" {
			return usageError{errors.New("--policy is missing: name the policy to replay under, such as --policy tiss")}
		}
		p, err := policyByName(command.Context(), named)
		if err != nil {
			return err
		}
		return withStore(command, func(ctx context.Context, _ config.Config, store audit.Store) error {
			to := now().UTC()
			from := to.Add(-*since)
			again := replay.New(p, of)
			progress := term.NewProgress(command.ErrOrStderr())
			err := store.Between(ctx, from, to, func(r *audit.Record) error {
				progress.Bar("replaying", float64(r.At.Sub(from))/float64(to.Sub(from)))
				return again.Add(r)
			})
			progress.Clear()
			if err != nil {
				return err
			}
			answer := report.Replay{
				Policy: p.Name, PolicyVersion: p.Version(), Of: of, From: from, To: to,
				Decisions: again.Decisions(), Rounds: again.Rounds(),
			}
			return printAnswer(command, answer, answer.Text())
		})
	}
	return withJSON(command, "print one JSON object")
}
