package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/retry"
)

func newPoliciesTry(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "try FILE[:NAME]",
		Short: "Show which errors of the trail a policy would class otherwise",
		Long: `Asks a policy about the errors of the audit trail: those that the policy of its
name has decided, or if there are none the one that it extends. It shows which
would get another class, and how many of their claims were accepted.

The trail masks texts: an error whose class no longer shows is only counted.`,
		Example: `  worker policies try policies.yaml:unimed --since 30d`,
		Args:    oneArg("one policies file", "policies.yaml"),
	}
	since := sinceFlag(command, "30d", "how far back to look")
	command.RunE = func(command *cobra.Command, args []string) error {
		set, p, err := setAndPolicy(command.Context(), args[0])
		if err != nil {
			return err
		}
		return withStore(command, func(ctx context.Context, cfg config.Config, store audit.Store) error {
			inForce, err := knownPolicies(ctx, cfg.PoliciesFile)
			if err != nil {
				return err
			}
			within := period{from: now().Add(-*since), to: now()}
			t := trial{p: p, inForce: inForce}
			entry, _ := set.Entry(p.Name)
			for _, of := range []string{p.Name, entry.Extends} {
				if err == nil && of != "" && t.answer.Errors+t.answer.Masked == 0 {
					t.answer = report.TrialOf(p, of, within.from, within.to)
					err = t.ask(ctx, store, within)
				}
			}
			if err != nil {
				return err
			}
			return printAnswer(command, t.answer, t.answer.Text())
		})
	}
	return withJSON(command, "print one JSON object")
}

// trial is a policy that is tried on the errors of another one.
type trial struct {
	p       *retry.Policy
	inForce *policy.Set
	answer  report.Trial
}

// ask asks the policy about all errors of a period.
func (t *trial) ask(ctx context.Context, store audit.Store, within period) error {
	changed := map[string][]*report.TrialChange{} // by claim, until it is accepted
	kinds := []audit.Kind{audit.KindRetry, audit.KindExhausted, audit.KindPermanent, audit.KindSubmitted}
	return store.Between(ctx, within.from, within.to, kinds, func(r *audit.Record) error {
		if r.Kind == audit.KindSubmitted {
			for _, c := range changed[r.ClaimID] {
				c.Accepted++
			}
			delete(changed, r.ClaimID)
			return nil
		}
		if r.Policy != t.answer.Of {
			return nil
		}
		facts, err := r.Facts()
		if err != nil {
			return err
		}
		if !t.shows(r, facts.SubmissionError) {
			t.answer.Masked++
			return nil
		}
		if c := t.answer.Add(r, t.p.Classify(facts.SubmissionError)); c != nil {
			changed[r.ClaimID] = append(changed[r.ClaimID], c)
		}
		return nil
	})
}

// shows reports whether the masked text still says what decided: the policy in force gives it the class of the record.
func (t *trial) shows(r *audit.Record, masked string) bool {
	p, known := t.inForce.Get(r.Policy)
	return masked != "" && (!known || p.Classify(masked).Class == r.Class)
}
