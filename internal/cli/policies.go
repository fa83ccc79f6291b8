package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

func newPolicies(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "policies [NAME]",
		Short: "Show the retry policies, or one of them in full",
		Long: `Shows the policies that are known: the built-in ones, and those of the file that
RETRY_POLICIES_FILE or --file names. With a NAME it shows one in full: its
waits, its rules, and the findings of lint.`,
		Example: `  worker policies tiss`,
		Args:    upToOneArg("name"),
	}
	file := command.Flags().String("file", "", "a policies file (default RETRY_POLICIES_FILE)")
	command.RunE = func(command *cobra.Command, args []string) error {
		set, err := knownPolicies(command.Context(), *file)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			list := report.Policies(set)
			return printAnswer(command, list, report.PoliciesText(list))
		}
		p, known := set.Get(args[0])
		if !known {
			return usageError{fmt.Errorf("there is no policy %q; there are %s", args[0], strings.Join(set.Names(), ", "))}
		}
		shown := report.PolicyInFull(set, p)
		return printAnswer(command, shown, shown.Text())
	}
	command.AddCommand(newPoliciesLint(), newPoliciesTest(now), newPoliciesTry(now))
	return withJSON(command, "print JSON; of one policy also as a file states it")
}

// knownPolicies reads a file, or the one that the configuration names. A broken one is a usage error.
func knownPolicies(ctx context.Context, file string) (*policy.Set, error) {
	return bounded(ctx, func() (*policy.Set, error) { return readPolicies(file) })
}

func readPolicies(file string) (*policy.Set, error) {
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

// policyHelp is the help of a flag that takes a policy.
const policyHelp = "policy `NAME`, or FILE[:NAME]"

var policyName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// policyByName returns the policy that a flag names: NAME is a built-in one or one of RETRY_POLICIES_FILE, FILE the only
// policy of another policies file, FILE:NAME one of several. A file is recognized by what names cannot hold, such as
// a dot or a slash.
func policyByName(ctx context.Context, named string) (*retry.Policy, error) {
	_, p, err := setAndPolicy(ctx, named)
	return p, err
}

// setAndPolicy returns that policy with the set that it is in.
func setAndPolicy(ctx context.Context, named string) (*policy.Set, *retry.Policy, error) {
	file, name := "", named
	if !policyName.MatchString(named) {
		file, name = named, ""
		if i := strings.LastIndexByte(named, ':'); i >= 0 {
			file, name = named[:i], named[i+1:]
		}
	}
	all, err := knownPolicies(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	if name == "" {
		p, err := onlyPolicy(file, all)
		return all, p, err
	}
	p, known := all.Get(name)
	if !known {
		return nil, nil, usageError{fmt.Errorf("there is no policy %q; there are %s. A policy of another file is named FILE:NAME",
			name, strings.Join(all.Names(), ", "))}
	}
	return all, p, nil
}

// onlyPolicy returns the one policy that a file adds to the built-in ones or puts in the place of one.
func onlyPolicy(file string, known *policy.Set) (*retry.Policy, error) {
	var own []*retry.Policy
	var names []string
	for p := range known.All() {
		entry, _ := known.Entry(p.Name)
		if entry.Origin != policy.BuiltInOrigin && entry.Origin != policy.SettingsOrigin {
			own = append(own, p)
			names = append(names, file+":"+p.Name)
		}
	}
	if len(own) != 1 {
		return nil, usageError{fmt.Errorf("%s has %d policies; name one of them: %s", file, len(own), strings.Join(names, ", "))}
	}
	return own[0], nil
}

func newPoliciesLint() *cobra.Command {
	command := &cobra.Command{
		Use:   "lint [FILE]",
		Short: "Check a policies file",
		Long: `Checks a policies file: the FILE that is named, else the policies of the
settings, with the numbers that they replace.

An error means that the worker refuses the file or a policy never retries; a
warning, that a policy does not do what is written. The exit code is 1 with an
error or a warning, 2 if the file cannot be read.`,
		Example: `  worker policies lint policies.yaml --outage 12h`,
		Args:    upToOneArg("file"),
	}
	outage := command.Flags().String("outage", "", "length of an outage that the retries must outlast: 12h")
	command.RunE = func(command *cobra.Command, args []string) error {
		var down time.Duration
		if *outage != "" {
			var err error
			if down, err = retry.ParseDuration(*outage); err != nil {
				return usageError{fmt.Errorf("--outage %q %w", *outage, err)}
			}
			if down <= 0 {
				return usageError{fmt.Errorf("--outage is %s but must be more than 0", *outage)}
			}
		}
		findings, err := findingsOf(fileToLint(command, args), down)
		if err != nil {
			return err
		}
		err = printAnswer(command, findings, findings.Text("No findings."))
		return cmp.Or(err, verdict("policies", findings))
	}
	return withJSON(command, "print a JSON array of findings")
}

// fileToLint returns the FILE that is named, empty for the policies in force. If none is named it reports on stderr what is
// looked at, because the answer may be JSON.
func fileToLint(command *cobra.Command, args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	complain(command.ErrOrStderr(), "worker: no FILE is named: looking at the policies of the settings")
	return ""
}

// findingsOf returns a file's faults if it has any, else the findings of its policies. Without a file they are those of the
// settings.
func findingsOf(file string, outage time.Duration) (text.Findings, error) {
	set, err := readPolicies(file)
	if faults, broken := errors.AsType[text.Faults](err); broken {
		return text.Findings(faults), nil
	}
	if err != nil {
		return nil, err
	}
	return append(text.Findings{}, set.LintAll(outage)...), nil // in JSON a list, even where it is empty
}
