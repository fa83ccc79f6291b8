package cli

import (
	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
)

func (p *program) policiesTry() *cobra.Command {
	command := &cobra.Command{
		Use:   "try FILE[:NAME]",
		Short: "Show which errors of the trail a policy would class otherwise",
		Long: `Asks a policy about the errors of the audit trail: those that the policy of its
name has decided, or if there are none the one that it extends. It shows which
would get another class, and how many of their claims were accepted.

The trail masks texts: an error whose class no longer shows is only counted.`,
		Example: `  worker policies try policies.yaml:unimed --since 30d`,
		Args:    cobra.ExactArgs(1),
	}
	since := spanFlag(command.Flags(), "since", "30d", "how far back to look")
	return p.answers(command, aStore, func(c *call) (any, string, error) {
		set, tried, err := namedPolicy(c.args[0])
		if err != nil {
			return nil, "", err
		}
		inForce, err := policies("")
		if err != nil {
			return nil, "", err
		}
		t := report.Trial{}
		entry, _ := set.Entry(tried.Name)
		for _, of := range []string{tried.Name, entry.Extends} {
			if of != "" && t.Errors+t.Masked == 0 {
				t = report.TrialOf(tried, of, p.now().Add(-*since), p.now())
				if err := try(c, tried, inForce, &t); err != nil {
					return nil, "", err
				}
			}
		}
		return t, t.Text(c.printer), nil
	})
}

// try asks a policy about all errors of a trial. A text that is masked is enough to classify if the policy in
// force gives it the class of its record.
func try(c *call, tried *retry.Policy, inForce *policy.Set, t *report.Trial) error {
	decided, known := inForce.Get(t.Of)
	changed := map[string][]*report.TrialChange{} // by claim, until it is accepted
	kinds := []audit.Kind{audit.KindRetry, audit.KindExhausted, audit.KindPermanent, audit.KindSubmitted}
	return c.store.Between(c.Context(), t.From, t.To, kinds, func(r *audit.Record) error {
		if r.Kind == audit.KindSubmitted {
			for _, c := range changed[r.ClaimID] {
				c.Accepted++
			}
			delete(changed, r.ClaimID)
			return nil
		}
		if r.Policy != t.Of {
			return nil
		}
		facts, err := r.Facts()
		if err != nil {
			return err
		}
		masked := facts.SubmissionError
		if masked == "" || known && decided.Classify(masked).Class != r.Class {
			t.Masked++
			return nil
		}
		if c := t.Add(r, tried.Classify(masked)); c != nil {
			changed[r.ClaimID] = append(changed[r.ClaimID], c)
		}
		return nil
	})
}
