package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/term"
)

func newPoliciesLint() *cobra.Command {
	command := &cobra.Command{
		Use:   "lint [FILE]",
		Short: "Check a policies file",
		Long: `Checks a policies file. If no FILE is named, it checks the one that
RETRY_POLICIES_FILE names, and without that the built-in policies; it reports on
stderr which it was. A finding is one of:

  error        the worker refuses the file, or a policy never tries again
  warning      a policy does not do what is written down: a rule that never
               matches, a code in two classes, no bound in time, ...
  information  worth knowing, and often meant: a cap that is never reached, ...

The exit code is 0 where there is no more than information, 1 with an error or a
warning, and 2 where the file cannot be read.`,
		Example: `  worker policies lint policies.yaml
  worker policies lint policies.yaml --outage 12h --json`,
		Args: upToOneArg("file"),
	}
	outage := command.Flags().String("outage", "", "length of an outage that the retries must outlast: 12h")
	asJSON := command.Flags().Bool("json", false, "print a JSON array of findings")
	command.RunE = func(command *cobra.Command, args []string) error {
		var down time.Duration
		if *outage != "" {
			var err error
			if down, err = policy.ParseDuration(*outage); err != nil {
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
		if err := printAnswer(command, *asJSON, findings, report.FindingsText(findings)); err != nil {
			return err
		}
		return verdict(findings)
	}
	return command
}

// fileToLint returns the FILE that is named, or the configured one, empty for the built-in policies. If none is named it
// reports on stderr which it is, because the answer may be JSON.
func fileToLint(command *cobra.Command, args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	file, what := config.Process().PoliciesFile(), "the built-in policies, as RETRY_POLICIES_FILE names no file either"
	if file != "" {
		what = term.Line(file) + ", which RETRY_POLICIES_FILE names"
	}
	complain(command.ErrOrStderr(), "worker: no FILE is named: looking at %s", what)
	return file
}

// findingsOf returns a file's faults if it has any, else the findings of its policies. Without a file they are the built-in
// policies'.
func findingsOf(file string, outage time.Duration) ([]policy.Finding, error) {
	findings := []policy.Finding{} // in JSON a list, even where it is empty
	store, err := policy.Open(file)
	if faults, broken := errors.AsType[policy.Faults](err); broken {
		for _, f := range faults {
			findings = append(findings, policy.Finding{
				Severity: policy.SevereError, Check: "broken", Policy: f.Policy, Rule: f.Rule, File: f.File, Line: f.Line, Problem: f.Problem,
			})
		}
		return findings, nil
	}
	if err != nil {
		return nil, usageError{err}
	}
	origin := file
	if file == "" {
		origin = policy.BuiltInOrigin
	}
	set := store.Current()
	for p := range set.All() {
		if set.Origin(p.Name) == origin {
			findings = append(findings, set.Lint(p.Name, outage)...)
		}
	}
	return findings, nil
}

// verdict returns an error where there is an error or a warning.
func verdict(findings []policy.Finding) error {
	number := map[policy.Severity]int{}
	for _, f := range findings {
		number[f.Severity]++
	}
	var parts []string
	for _, severity := range []policy.Severity{policy.SevereError, policy.SevereWarning} {
		if number[severity] > 0 {
			parts = append(parts, term.Count(number[severity], string(severity)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return errors.New("the policies have " + strings.Join(parts, " and "))
}
