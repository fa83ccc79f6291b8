package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/app"
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
		broken, is := errors.AsType[text.Faults](err)
		findings := text.Findings(broken)
		switch {
		case err == nil:
			findings = set.Lint(*outage, false)
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
