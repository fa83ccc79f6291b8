package cli

import (
	"cmp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) policiesTry() *cobra.Command {
	command := &cobra.Command{Use: "try FILE[:NAME]", Args: cobra.ExactArgs(1)}
	since := spanFlag(command.Flags(), "since", "30d", "how far back to look")
	return p.answers(command, aStore, func(c *call) (any, error) {
		_, tried, err := namedPolicy(c.args[0])
		if err != nil {
			return nil, err
		}
		inForce, err := policies("")
		if err != nil {
			return nil, err
		}
		t := trial{Policy: tried.Name, Version: tried.Version(), Of: tried.Name, To: p.now().UTC()}
		t.From, t.Changes = t.To.Add(-*since), []*trialChange{} // in JSON a list, also where it is empty
		if _, known := inForce.Get(t.Of); !known {
			t.Of = cmp.Or(tried.Extends, t.Of)
		}
		if err := t.run(c, tried, inForce); err != nil {
			return nil, err
		}
		t.say(c.w)
		return t, nil
	})
}

// run asks a policy about all errors of the trial. A text that is masked is enough to classify if the policy
// in force gives it the class of its record.
func (t *trial) run(c *call, tried *retry.Policy, inForce *policy.Set) error {
	decided, known := inForce.Get(t.Of)
	kinds := []audit.Kind{audit.KindRetry, audit.KindExhausted, audit.KindPermanent, audit.KindSubmitted}
	err := c.store.Between(c.Context(), t.From, t.To, kinds, func(r *audit.Record) error {
		if r.Kind == audit.KindSubmitted {
			for _, change := range t.Changes {
				if accepted, is := change.claims[r.ClaimID]; is && !accepted {
					change.claims[r.ClaimID] = true
					change.Accepted++
				}
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
		if would := tried.Classify(masked); would.Class != r.Class {
			t.changes(classed{r.Class, r.Rule}, classed{would.Class, would.RuleID}, r.ClaimID)
		}
		return nil
	})
	slices.SortStableFunc(t.Changes, func(a, b *trialChange) int { return cmp.Compare(b.Errors, a.Errors) })
	return err
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
	// Changes are the errors that get another class, the most frequent first.
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

	claims map[string]bool // whether each is accepted
}

// changes counts an error of a claim that gets the class to in the place of from.
func (t *trial) changes(from, to classed, claimID string) {
	i := slices.IndexFunc(t.Changes, func(c *trialChange) bool { return c.From == from && c.To == to })
	if i < 0 {
		i = len(t.Changes)
		t.Changes = append(t.Changes, &trialChange{From: from, To: to, claims: map[string]bool{}})
	}
	change := t.Changes[i]
	change.Errors++
	if _, counted := change.claims[claimID]; !counted {
		change.claims[claimID] = false
	}
	change.Claims = len(change.claims)
}

// say words the trial.
func (t *trial) say(w *wording) {
	changed := 0
	for _, c := range t.Changes {
		changed += c.Errors
	}
	w.sayf("Policy %s, version %s, on %s of policy %s since %s: %d would get another class.",
		t.Policy, t.Version, text.Messagef("%d errors", t.Errors), t.Of, t.From, changed)
	for _, c := range t.Changes {
		w.WriteString("\n")
		w.sayf("%s of %s, of which %d accepted since",
			text.Messagef("%d errors", c.Errors), text.Messagef("%d claims", c.Claims), c.Accepted)
		were := w.Sprintf("were %s by %s, would be %s by %s",
			c.From.Class, c.From.Rule, c.To.Class, c.To.Rule)
		w.WriteString(text.Wrap(were, "    "))
	}
	if t.Masked > 0 {
		w.WriteString("\n")
		w.sayf("%d more errors could not be compared: the masked text does not say any more what "+
			"decided.", t.Masked)
	}
}
