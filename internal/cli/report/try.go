package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
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

// classed is the class of an error, and the rule that gives it.
type classed struct {
	Class retry.Class `json:"errorClassification"`
	Rule  string      `json:"ruleId"`
}

// TrialChange are errors that get another class, by the rules that decide.
type TrialChange struct {
	From   classed `json:"from"`
	To     classed `json:"to"`
	Errors int     `json:"errors"`
	// Claims are those of the errors, Accepted those of them that the insurer has accepted since.
	Claims   int `json:"claims"`
	Accepted int `json:"accepted"`

	claims map[string]bool
}

// TrialOf returns a trial of a policy on the errors of another one, without an error.
func TrialOf(p *retry.Policy, of string, from, to time.Time) Trial {
	t := Trial{Policy: p.Name, Version: p.Version(), Of: of, From: from.UTC(), To: to.UTC()}
	t.Changes = []*TrialChange{} // in JSON a list, also where it is empty
	return t
}

// Add adds the error of a record, by what the policy makes of it. It returns the change, if it is one and the
// first of the record's claim.
func (t *Trial) Add(r *audit.Record, now retry.Classification) *TrialChange {
	from, to := classed{r.Class, r.Rule}, classed{now.Class, now.RuleID}
	if t.Errors++; from.Class == to.Class {
		return nil
	}
	i := slices.IndexFunc(t.Changes, func(c *TrialChange) bool { return c.From == from && c.To == to })
	if i < 0 {
		i = len(t.Changes)
		t.Changes = append(t.Changes, &TrialChange{From: from, To: to, claims: map[string]bool{}})
	}
	c := t.Changes[i]
	c.Errors++
	if c.claims[r.ClaimID] {
		return nil
	}
	c.claims[r.ClaimID] = true
	c.Claims++
	return c
}

// Text words the trial, the most frequent change first.
func (t *Trial) Text(p *text.Printer) string {
	changes := slices.Clone(t.Changes)
	slices.SortStableFunc(changes, func(a, b *TrialChange) int { return cmp.Compare(b.Errors, a.Errors) })
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
			"decided.",
			t.Masked), "")
	}
	return b.String()
}
