package cli

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
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
		_, tried, err := namedPolicy(c.args[0])
		if err != nil {
			return nil, "", err
		}
		inForce, err := policies("")
		if err != nil {
			return nil, "", err
		}
		t := trial{}
		for _, of := range []string{tried.Name, tried.Extends} {
			if of == "" || t.Errors+t.Masked > 0 {
				continue
			}
			t = trial{Policy: tried.Name, Version: tried.Version(), Of: of, To: p.now().UTC()}
			t.From, t.Changes = t.To.Add(-*since), []*trialChange{} // in JSON a list, also where it is empty
			if err := t.run(c, tried, inForce); err != nil {
				return nil, "", err
			}
		}
		return t, t.Text(c.printer), nil
	})
}

// run asks a policy about all errors of the trial. A text that is masked is enough to classify if the policy
// in force gives it the class of its record.
func (t *trial) run(c *call, tried *retry.Policy, inForce *policy.Set) error {
	decided, known := inForce.Get(t.Of)
	unaccepted := map[string]map[*trialChange]bool{} // by claim, false once that is accepted
	kinds := []audit.Kind{audit.KindRetry, audit.KindExhausted, audit.KindPermanent, audit.KindSubmitted}
	return c.store.Between(c.Context(), t.From, t.To, kinds, func(r *audit.Record) error {
		of := unaccepted[r.ClaimID]
		if r.Kind == audit.KindSubmitted {
			for change, is := range of {
				if is {
					change.Accepted++
				}
				of[change] = false
			}
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
		t.Errors++
		would := tried.Classify(masked)
		if would.Class == r.Class {
			return nil
		}
		change := t.change(classed{r.Class, r.Rule}, classed{would.Class, would.RuleID})
		change.Errors++
		if of == nil {
			of = map[*trialChange]bool{}
			unaccepted[r.ClaimID] = of
		}
		if _, counted := of[change]; !counted {
			change.Claims++
			of[change] = true
		}
		return nil
	})
}

// trial is what a policy makes of errors that another one has decided. Its JSON form is stable: names are
// added, never changed.
type trial struct {
	Policy  string `json:"policy"`
	Version string `json:"policyVersion"`
	// Of is the policy whose errors they are.
	Of   string    `json:"errorsOf"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Errors were compared; Masked could not be, because their masked text does not say any more what
	// decided.
	Errors int `json:"errors"`
	Masked int `json:"masked"`
	// Changes are the errors that get another class.
	Changes []*trialChange `json:"changes"`
}

// classed is the class of an error, and the rule that gives it.
type classed struct {
	Class retry.Class `json:"errorClassification"`
	Rule  string      `json:"ruleId"`
}

// trialChange are errors that get another class, by the rules that decide.
type trialChange struct {
	From   classed `json:"from"`
	To     classed `json:"to"`
	Errors int     `json:"errors"`
	// Claims are those of the errors, Accepted those of them that the insurer has accepted since.
	Claims   int `json:"claims"`
	Accepted int `json:"accepted"`
}

// change returns what counts the errors that get the class to in the place of from.
func (t *trial) change(from, to classed) *trialChange {
	for _, c := range t.Changes {
		if c.From == from && c.To == to {
			return c
		}
	}
	c := &trialChange{From: from, To: to}
	t.Changes = append(t.Changes, c)
	return c
}

// Text words the trial, the most frequent change first.
func (t *trial) Text(p *text.Printer) string {
	changes := slices.Clone(t.Changes)
	slices.SortStableFunc(changes, func(a, b *trialChange) int { return cmp.Compare(b.Errors, a.Errors) })
	changed := 0
	for _, c := range changes {
		changed += c.Errors
	}
	var b strings.Builder
	say := func(words, indent string) { b.WriteString(text.Wrap(words, indent)) }
	say(p.Sprintf("Policy %s, version %s, on %s of policy %s since %s: %d would get another class.",
		t.Policy, t.Version, text.Messagef("%d errors", t.Errors), t.Of, t.From, changed), "")
	for _, c := range changes {
		b.WriteString("\n")
		say(p.Sprintf("%s of %s, of which %d accepted since",
			text.Messagef("%d errors", c.Errors), text.Messagef("%d claims", c.Claims), c.Accepted), "")
		say(p.Sprintf("were %s by %s, would be %s by %s",
			c.From.Class, c.From.Rule, c.To.Class, c.To.Rule), "    ")
	}
	if t.Masked > 0 {
		b.WriteString("\n")
		say(p.Sprintf("%d more errors could not be compared: the masked text does not say any more what "+
			"decided.", t.Masked), "")
	}
	return b.String()
}
