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
		within := period{from: p.now().Add(-*since), to: p.now()}
		t := trial{p: tried, inForce: inForce}
		entry, _ := set.Entry(tried.Name)
		for _, of := range []string{tried.Name, entry.Extends} {
			if of != "" && t.answer.Errors+t.answer.Masked == 0 {
				t.answer = report.TrialOf(tried, of, within.from, within.to)
				if err := t.ask(c, within); err != nil {
					return nil, "", err
				}
			}
		}
		return t.answer, t.answer.Text(), nil
	})
}

// trial is a policy that is tried on the errors of another one.
type trial struct {
	p       *retry.Policy
	inForce *policy.Set
	answer  report.Trial
}

// ask asks the policy about all errors of a period.
func (t *trial) ask(c *call, within period) error {
	changed := map[string][]*report.TrialChange{} // by claim, until it is accepted
	kinds := []audit.Kind{audit.KindRetry, audit.KindExhausted, audit.KindPermanent, audit.KindSubmitted}
	return c.store.Between(c.Context(), within.from, within.to, kinds, func(r *audit.Record) error {
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

// shows reports whether the masked text is still enough to classify: the policy in force gives it the class
// of the record.
func (t *trial) shows(r *audit.Record, masked string) bool {
	p, known := t.inForce.Get(r.Policy)
	return masked != "" && (!known || p.Classify(masked).Class == r.Class)
}
