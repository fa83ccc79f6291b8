package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) policies() *cobra.Command {
	command := &cobra.Command{Use: "policies [NAME | FILE[:NAME]]", Args: cobra.MaximumNArgs(1)}
	p.answers(command, language, func(c *call) (any, error) {
		if len(c.args) == 1 {
			set, one, err := namedPolicy(c.args[0])
			if err != nil {
				return nil, err
			}
			shown := policyInFull(set, one)
			shown.say(c.w)
			return shown, nil
		}
		set, err := policies("")
		if err != nil {
			return nil, err
		}
		list := []shownPolicy{}
		for _, one := range set.All() {
			shown := policyInFull(set, one)
			c.w.label(shown.Policy.Name, shown.tries(c.w))
			if shown.Policy.Description != "" {
				c.w.label("", shown.Policy.Description)
			}
			c.w.label("", shown.origin(c.w))
			c.w.WriteString("\n")
			list = append(list, shown)
		}
		return list, nil
	})
	command.AddCommand(p.policiesLint(), p.policiesTest(), p.policiesTry())
	return command
}

// policies reads a file, or the one that the settings name. A broken one is a usage error.
func policies(file string) (*policy.Set, error) {
	settings := config.Policies{PoliciesFile: file}
	if file == "" {
		var err error
		if settings, err = config.Part[config.Policies](); err != nil {
			return nil, err
		}
	}
	set, err := app.OpenPolicies(settings)
	if err != nil {
		return nil, usageError{err}
	}
	return set, nil
}

// policyUsage is that of the flag --policy.
const policyUsage = "policy `NAME`, or FILE[:NAME]"

// namedPolicy returns the policy that is named, with those beside it: NAME is a built-in one or one of the
// file of the settings, FILE the only policy of another file, FILE:NAME one of several. A file is known by
// what no name holds, such as a dot.
func namedPolicy(named string) (*policy.Set, *retry.Policy, error) {
	file, name, prefix := "", named, ""
	if strings.ContainsAny(named, `./\:`) {
		file, name = named, ""
		if i := strings.LastIndexByte(named, ':'); i >= 0 {
			file, name = named[:i], named[i+1:]
		}
		prefix = file + ":"
	}
	set, err := policies(file)
	if err != nil {
		return nil, nil, err
	}
	var own []string // as they are named here
	for _, known := range set.Names() {
		if file == "" || set.Origin(known) == file {
			own = append(own, prefix+known)
		}
	}
	if name == "" && len(own) == 1 {
		name = strings.TrimPrefix(own[0], prefix)
	}
	one, known := set.Get(name)
	if !known {
		return nil, nil, usageError{noPolicy(named, own)}
	}
	return set, one, nil
}

func noPolicy(name string, known []string) text.Message {
	return text.Messagef("there is no policy %q; there are %s", name, strings.Join(known, ", "))
}

func (p *program) policiesLint() *cobra.Command {
	command := &cobra.Command{Use: "lint FILE", Args: cobra.ExactArgs(1)}
	outage := spanFlag(command.Flags(), "outage", "", "outage that the retries must outlast")
	return p.answers(command, language, func(c *call) (any, error) {
		set, err := policies(c.args[0])
		findings, is := errors.AsType[text.Findings](err)
		switch {
		case err == nil:
			findings = set.Lint(*outage)
		case !is:
			return nil, err
		}
		return c.findings(findings, c.w.Sprintf("No findings in %s.", c.args[0]))
	})
}

func (p *program) policiesTest() *cobra.Command {
	command := &cobra.Command{Use: "test CASES", Args: cobra.ExactArgs(1)}
	named := command.Flags().String("policy", "tiss", policyUsage)
	return p.answers(command, language, func(c *call) (any, error) {
		set, standard, err := namedPolicy(*named)
		if err != nil {
			return nil, err
		}
		file := c.args[0]
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, usageError{err}
		}
		cases, err := policy.ParseCases(file, content)
		if err != nil {
			return nil, usageError{err}
		}
		var findings text.Findings
		for _, one := range cases {
			one.Policy = cmp.Or(one.Policy, standard.Name)
			of, known := set.Get(one.Policy)
			if !known {
				place := fmt.Sprintf("%s:%d", file, one.Line)
				return nil, usageError{text.Messagef("%s: %s", place, noPolicy(one.Policy, set.Names()))}
			}
			if wrong := differences(one, one.Of(of, p.now())); wrong.Format != "" {
				findings = append(findings, text.Finding{
					Severity: text.Error,
					Check:    "case",
					File:     file,
					Line:     one.Line,
					Subject:  text.Messagef("policy %s: %q", one.Policy, text.Shorten(one.Text, 200)),
					What:     wrong,
				})
			}
		}
		return c.findings(findings, c.w.Sprintf("%d cases, 0 failed.", len(cases)))
	})
}

// shownPolicy is one of the policies that are known. Its JSON form is stable: names are added, never changed.
type shownPolicy struct {
	Version string `json:"version"`
	// Origin is the file that it is written in.
	Origin string `json:"origin"`
	// Schedule is its waits, empty of a policy without retries.
	Schedule []retry.Scheduled `json:"schedule"`
	// Policy is the policy as a file would state it: {"policies": [...]} around it is a policies file.
	Policy retry.Settings `json:"policy"`
}

// policyInFull returns one policy.
func policyInFull(set *policy.Set, p *retry.Policy) shownPolicy {
	s := shownPolicy{
		Version:  p.Version(),
		Origin:   set.Origin(p.Name),
		Schedule: retry.Schedule(p, retry.Request{}, time.Unix(0, 0)),
		Policy:   p.Settings,
	}
	s.Policy.Extends = "" // it states all
	return s
}

func (s *shownPolicy) tries(w *wording) string {
	if len(s.Schedule) == 0 {
		return w.Sprintf("no retries")
	}
	return w.Sprintf("%d retries in %s", s.Policy.MaxRetries, s.Schedule[len(s.Schedule)-1].Total())
}

func (s *shownPolicy) origin(w *wording) string {
	origin := w.Sprintf("%s, version %s", w.Name("origin", s.Origin), s.Version)
	if s.Policy.Source != "" {
		origin = w.Sprintf("%s, from %s", origin, s.Policy.Source)
	}
	return origin
}

// say words the policy: its waits, and all of it as a file states it.
func (s *shownPolicy) say(w *wording) {
	w.label(w.Sprintf("policy"), s.Policy.Name+", "+s.origin(w))
	w.label(w.Sprintf("tries"), s.tries(w))
	if len(s.Schedule) > 0 {
		w.WriteString("\n")
		w.schedule(s.Schedule)
	}
	w.WriteString("\n")
	w.sayf("As a file states it, with all that it inherits and all defaults:")
	w.WriteString("\n")
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	_ = encoder.Encode(map[string][]retry.Settings{"policies": {s.Policy}}) // what was read can be written
}

// differences are what an answer has otherwise than its case in a file wants, empty where it has all.
func differences(wanted policy.Case, got policy.Answer) (all text.Message) {
	for _, part := range [][3]string{
		{"class", wanted.Class, got.Class},
		{"rule", wanted.Rule, got.Rule},
		{"wait", wanted.Wait, got.Wait},
	} {
		if part[1] == "" || part[1] == part[2] {
			continue
		}
		one := text.Messagef("%s is %s, not %s", part[0], part[2], part[1])
		if all.Format != "" {
			one = text.Messagef("%s; %s", all, one)
		}
		all = one
	}
	return all
}

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
			t.changes(classed{r.Class, r.Rule}, classed{would.Class, would.ID}, r.ClaimID)
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
		w.WriteString(text.Wrap("    ", were))
	}
	if t.Masked > 0 {
		w.WriteString("\n")
		w.sayf("%d more errors could not be compared: the masked text does not say any more what "+
			"decided.", t.Masked)
	}
}
