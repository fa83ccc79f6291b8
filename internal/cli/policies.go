package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/config/readfile"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) policies() *cobra.Command {
	command := p.answers(&cobra.Command{
		Use:   "policies [NAME | FILE[:NAME]]",
		Short: "Show the retry policies, or one of them in full",
		Long: `Shows the policies that are known: the built-in ones, and those of the file that
RETRY_POLICIES_FILE names. Of one that is named, also of another FILE, it shows
the waits and the rules.`,
		Example: `  worker policies tiss`,
		Args:    cobra.MaximumNArgs(1),
	}, language, func(c *call) (any, string, error) {
		if len(c.args) == 1 {
			set, one, err := namedPolicy(c.args[0])
			if err != nil {
				return nil, "", err
			}
			shown := policyInFull(set, one)
			return shown, shown.Text(c.printer), nil
		}
		set, err := policies("")
		if err != nil {
			return nil, "", err
		}
		list := []shownPolicy{}
		for _, one := range set.All() {
			list = append(list, policyInFull(set, one))
		}
		return list, policiesText(c.printer, list), nil
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

// policyFlag adds the flag --policy.
func policyFlag(command *cobra.Command) *string {
	return command.Flags().String("policy", "tiss", policyUsage)
}

const policyUsage = "policy `NAME`, or FILE[:NAME]"

// namedPolicy returns the policy that is named, with those beside it: NAME is a built-in one or one of the
// file of the settings, FILE the only policy of another file, FILE:NAME one of several. A file is known by
// what no name holds, such as a dot.
func namedPolicy(named string) (*policy.Set, *retry.Policy, error) {
	file, name := "", named
	if strings.ContainsAny(named, `./\:`) {
		file, name = named, ""
		if i := strings.LastIndexByte(named, ':'); i >= 0 {
			file, name = named[:i], named[i+1:]
		}
	}
	set, err := policies(file)
	if err != nil {
		return nil, nil, err
	}
	var own []string
	for _, known := range set.Names() {
		if set.Origin(known) == file {
			own = append(own, known)
		}
	}
	if name == "" && len(own) == 1 {
		name = own[0]
	}
	one, known := set.Get(name)
	switch {
	case known:
		return set, one, nil
	case name == "":
		return nil, nil, usageError{text.Messagef("%s has %d policies; name one of them, as FILE:NAME: %s",
			file, len(own), strings.Join(own, ", "))}
	}
	return nil, nil, usageError{noPolicy(name, set)}
}

func noPolicy(name string, set *policy.Set) text.Message {
	return text.Messagef("there is no policy %q; there are %s", name, strings.Join(set.Names(), ", "))
}

func (p *program) policiesLint() *cobra.Command {
	command := &cobra.Command{
		Use:   "lint [FILE]",
		Short: "Check a policies file",
		Long: `Checks a policies file: the FILE that is named, else the policies of the
settings, with the numbers that they replace.

An error means that the worker refuses the file or a policy never retries; a
warning, that a policy does not do what is written. The exit code is 1 with an
error or a warning, 2 if the file cannot be read.`,
		Example: `  worker policies lint policies.yaml --outage 12h`,
		Args:    cobra.MaximumNArgs(1),
	}
	outage := spanFlag(command.Flags(), "outage", "", "outage that the retries must outlast")
	return p.answers(command, language, func(c *call) (any, string, error) {
		settings, err := config.Part[config.Policies]()
		if len(c.args) > 0 {
			settings = config.Policies{PoliciesFile: c.args[0]}
		} else if err != nil {
			return nil, "", err
		}
		set, err := app.OpenPolicies(settings)
		broken, is := errors.AsType[text.Faults](err)
		findings := append(text.Findings{}, broken...) // in JSON a list, even where it is empty
		switch {
		case err == nil:
			noOther := set.Version() == policy.BuiltIns().Version()
			findings = append(findings, set.Lint(*outage, noOther)...)
		case !is:
			return nil, "", usageError{err}
		}
		none := c.printer.Sprintf("No findings in the built-in policies.")
		if settings.PoliciesFile != "" {
			none = c.printer.Sprintf("No findings in %s.", text.Line(settings.PoliciesFile))
		}
		return findings, findings.In(c.printer, none), verdict(findings)
	})
}

// maxCases is the largest size of a file of cases in bytes.
const maxCases = 4 << 20

func (p *program) policiesTest() *cobra.Command {
	command := &cobra.Command{
		Use:   "test CASES",
		Short: "Compare what policies make of error texts with what is wanted",
		Long: `Reads a file of cases, each an error text and the class, the rule or the wait
that it is to get, and prints the answers that differ. A case that names no
policy is for that of --policy; one that does, for that of the same file.

The exit code is 1 if an answer differs.`,
		Example: `  worker policies test cases.yaml --policy policies.yaml:dental`,
		Args:    cobra.ExactArgs(1),
	}
	named := policyFlag(command)
	return p.answers(command, language, func(c *call) (any, string, error) {
		set, standard, err := namedPolicy(*named)
		if err != nil {
			return nil, "", err
		}
		file := c.args[0]
		content, _, err := readfile.Read(filepath.Clean(file), maxCases)
		if err != nil {
			return nil, "", usageError{err}
		}
		cases, err := policy.ParseCases(file, content)
		if err != nil {
			return nil, "", usageError{err}
		}
		findings := text.Findings{} // in JSON a list, even where it is empty
		for _, one := range cases {
			one.Policy = cmp.Or(one.Policy, standard.Name)
			of, known := set.Get(one.Policy)
			if !known {
				place := fmt.Sprintf("%s:%d", file, one.Line)
				return nil, "", usageError{text.Messagef("%s: %s", place, noPolicy(one.Policy, set))}
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
		none := c.printer.Sprintf("%d cases, 0 failed.", len(cases))
		return findings, findings.In(c.printer, none), verdict(findings)
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

// policiesText lists policies.
func policiesText(p *text.Printer, list []shownPolicy) string {
	var b strings.Builder
	for i := range list {
		s := &list[i]
		b.WriteString(label(s.Policy.Name, s.tries(p)))
		if s.Policy.Description != "" {
			b.WriteString(label("", s.Policy.Description))
		}
		b.WriteString(label("", s.origin(p)) + "\n")
	}
	return b.String()
}

func (s *shownPolicy) tries(p *text.Printer) string {
	if len(s.Schedule) == 0 {
		return p.Sprintf("no retries")
	}
	return p.Sprintf("%d retries in %s", s.Policy.MaxRetries, s.Schedule[len(s.Schedule)-1].Total())
}

func (s *shownPolicy) origin(p *text.Printer) string {
	origin := p.Sprintf("%s, version %s", s.Origin, s.Version)
	if s.Policy.Source != "" {
		origin = p.Sprintf("%s, from %s", origin, s.Policy.Source)
	}
	return origin
}

// Text words the policy: its waits, and all of it as a file states it.
func (s *shownPolicy) Text(p *text.Printer) string {
	out := label(p.Sprintf("policy"), s.Policy.Name+", "+s.origin(p)) + label(p.Sprintf("tries"), s.tries(p))
	if len(s.Schedule) > 0 {
		out += "\n" + scheduleTable(p, s.Schedule)
	}
	all := p.Sprintf("As a file states it, with all that it inherits and all defaults:")
	return out + "\n" + text.Wrap(all, "") + "\n" + s.file()
}

// file returns the policies file with this policy.
func (s *shownPolicy) file() string {
	var node yaml.Node
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	written, err := json.Marshal(map[string][]retry.Settings{"policies": {s.Policy}})
	if err = errors.Join(err, yaml.Unmarshal(written, &node)); err == nil { // JSON is YAML
		spread(&node, 6) // document, fields, policies, one, its rules, one
		err = encoder.Encode(&node)
	}
	if err != nil {
		return err.Error() + "\n" // a policy that was read can be written
	}
	return b.String()
}

// spread writes YAML over lines, so many levels deep, and texts without the quotes that they do not need.
func spread(node *yaml.Node, levels int) {
	if node.Style = 0; levels <= 0 && node.Kind != yaml.ScalarNode {
		node.Style = yaml.FlowStyle
	}
	for _, inner := range node.Content {
		spread(inner, levels-1)
	}
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
