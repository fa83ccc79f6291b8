package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Trial is what a policy makes of errors that another one has decided. Its JSON form is stable: names are
// added, never changed.
type Trial struct {
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
	Changes []*TrialChange `json:"changes"`
}

// TrialChange are errors that get another class, by the rules that decide.
type TrialChange struct {
	From     retry.Class `json:"from"`
	FromRule string      `json:"fromRule"`
	To       retry.Class `json:"to"`
	ToRule   string      `json:"toRule"`
	Errors   int         `json:"errors"`
	// Claims are those of the errors, Accepted those of them that the insurer has accepted since.
	Claims   int `json:"claims"`
	Accepted int `json:"accepted"`

	claims map[string]bool
}

// TrialOf returns a trial of a policy on the errors of another one, without an error.
func TrialOf(p *retry.Policy, of string, from, to time.Time) Trial {
	return Trial{
		Policy:  p.Name,
		Version: p.Version(),
		Of:      of,
		From:    from.UTC(),
		To:      to.UTC(),
		Changes: []*TrialChange{},
	}
}

// Add adds an error, by the class and rule that decided and what the policy makes of it. It returns nil for
// the same class.
func (t *Trial) Add(class retry.Class, rule string, now retry.Classification) *TrialChange {
	if t.Errors++; class == now.Class {
		return nil
	}
	i := slices.IndexFunc(t.Changes, func(c *TrialChange) bool {
		return c.From == class && c.FromRule == rule && c.To == now.Class && c.ToRule == now.RuleID
	})
	if i < 0 {
		i = len(t.Changes)
		t.Changes = append(t.Changes, &TrialChange{
			From: class, FromRule: rule, To: now.Class, ToRule: now.RuleID, claims: map[string]bool{},
		})
	}
	t.Changes[i].Errors++
	return t.Changes[i]
}

// Of notes the claim of an error, and reports whether it is the first of it.
func (c *TrialChange) Of(claimID string) bool {
	if c.claims[claimID] {
		return false
	}
	c.claims[claimID] = true
	c.Claims++
	return true
}

// Text words the trial, the most frequent change first.
func (t Trial) Text() string {
	changes := slices.Clone(t.Changes)
	slices.SortStableFunc(changes, func(a, b *TrialChange) int { return cmp.Compare(b.Errors, a.Errors) })
	changed := 0
	for _, c := range changes {
		changed += c.Errors
	}
	s := text.Wrap(fmt.Sprintf(
		"Policy %s, version %s, on %s of policy %s since %s: %d would get another class.",
		t.Policy, t.Version, text.Count(t.Errors, "error"), t.Of, text.Minute(t.From), changed), "")
	for _, c := range changes {
		s += fmt.Sprintf("\n%s of %s, of which %d accepted since\n",
			text.Count(c.Errors, "error"), text.Count(c.Claims, "claim"), c.Accepted)
		change := fmt.Sprintf("were %s by %s, would be %s by %s", c.From, c.FromRule, c.To, c.ToRule)
		s += text.Wrap(change, "    ")
	}
	if t.Masked > 0 {
		s += "\n" + text.Wrap(text.Count(t.Masked, "more error")+
			" could not be compared: the masked text does not say any more what decided.", "")
	}
	return s
}
