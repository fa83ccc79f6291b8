package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

func newPending(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "pending",
		Short: "List the claims that wait for a retry, and those that are overdue",
		Long: `Lists the retries that nothing was heard of since they were scheduled: those
that wait, and those that are overdue, because their time has come and neither a
new decision nor an outcome followed. A claim that is overdue by minutes is
being submitted; one that is overdue by hours has lost its timer, its process
instance was cancelled, or its model does not report outcomes
(record-retry-outcome).

It looks at the decisions of the last 30 days, or as far back as --since says.`,
		Example: `  worker pending
  worker pending --overdue --since 24h
  worker pending --json | jq -r '.[] | select(.overdueSeconds > 3600).claimId'`,
		Args: noArgs,
	}
	since := span(30 * day)
	flags := command.Flags()
	onlyOverdue := flags.Bool("overdue", false, "only those whose time has come")
	flags.Var(&since, "since", "how far back to look, as 7d, 24h or 90m")
	asJSON := flags.Bool("json", false, "print a JSON array")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return ask(command, func(ctx context.Context, _ config.Config, store audit.Store) error {
			now := now()
			due := now
			if !*onlyOverdue {
				due = now.Add(1000 * day) // more than any policy lets a claim wait
			}
			records, err := store.Pending(ctx, now.Add(-time.Duration(since)), due)
			if err != nil {
				return err
			}
			all, err := pendingOf(records, now)
			if err != nil {
				return err
			}
			return printAnswer(command, *asJSON, all, pendingText(all, now, since, *onlyOverdue))
		})
	}
	return command
}

// pending is a retry that nothing was heard of since. Its JSON form is stable.
type pending struct {
	ClaimID string    `json:"claimId"`
	Due     time.Time `json:"nextRetryTime"`
	// OverdueSeconds is 0 while the claim waits.
	OverdueSeconds int64     `json:"overdueSeconds"`
	Since          time.Time `json:"scheduledAt"`
	RetryCount     int       `json:"retryCount"`
	MaxRetries     int       `json:"maxRetries"`
	Classification string    `json:"errorClassification"`
	MatchedCode    string    `json:"matchedCode,omitempty"`
	// The key is a text for the sake of JavaScript, as in the events.
	ProcessInstanceKey string `json:"processInstanceKey"`
}

func pendingOf(records []audit.Record, now time.Time) ([]pending, error) {
	all := []pending{} // in JSON a list, even where it is empty
	for i := range records {
		r := &records[i]
		facts, err := r.Facts()
		if err != nil {
			return nil, err
		}
		all = append(all, pending{
			ClaimID: r.ClaimID, Due: r.NextRetryTime, Since: r.At,
			OverdueSeconds: max(int64(now.Sub(r.NextRetryTime)/time.Second), 0),
			RetryCount:     facts.RetryCount, MaxRetries: facts.MaxRetries,
			Classification: string(facts.ErrorClassification), MatchedCode: facts.RetryDecision.MatchedCode,
			ProcessInstanceKey: fmt.Sprint(r.ProcessInstanceKey),
		})
	}
	return all, nil
}

func pendingText(all []pending, now time.Time, since span, onlyOverdue bool) string {
	var b strings.Builder
	overdue := 0
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if len(all) > 0 {
		fmt.Fprintln(w, "DUE\tWHEN\tRETRY\tSINCE\tCLAIM")
	}
	for _, p := range all {
		when := "in " + lapse(p.Due.Sub(now))
		if !p.Due.After(now) {
			overdue++
			when = "overdue " + lapse(now.Sub(p.Due))
		}
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\t%s\n", utcMinutes(p.Due), when, p.RetryCount, p.MaxRetries, utcMinutes(p.Since), plain(p.ClaimID))
	}
	_ = w.Flush() // a strings.Builder takes everything
	if len(all) > 0 {
		b.WriteString("\n")
	}
	if !onlyOverdue {
		fmt.Fprintf(&b, "%d waiting, ", len(all)-overdue)
	}
	fmt.Fprintf(&b, "%d overdue, of the decisions of the last %s.\n", overdue, since.String())
	return b.String()
}
