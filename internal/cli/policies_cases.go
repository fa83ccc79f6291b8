package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/readfile"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/text"
)

// maxCases is the largest size of a file of cases in bytes.
const maxCases = 4 << 20

func newPoliciesTest(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "test CASES",
		Short: "Compare what policies make of error texts with what is wanted",
		Long: `Reads a file of cases, each an error text and the class, the rule or the wait
that it is to get, and prints the answers that differ. A case without a policy
is for the only one of --file, else for tiss.

The exit code is 1 if an answer differs.`,
		Example: `  worker policies test cases.yaml --file policies.yaml`,
		Args:    oneArg("one file of cases", "cases.yaml"),
	}
	file := command.Flags().String("file", "", "a policies file (default RETRY_POLICIES_FILE)")
	command.RunE = func(command *cobra.Command, args []string) error {
		set, err := knownPolicies(command.Context(), *file)
		if err != nil {
			return err
		}
		content, _, err := readfile.Read(filepath.Clean(args[0]), maxCases)
		if err != nil {
			return usageError{err}
		}
		cases, err := policy.ParseCases(args[0], content)
		if err != nil {
			return usageError{err}
		}
		results := report.CaseResults{File: args[0]}
		standard := defaultPolicy
		if only, err := onlyPolicy(*file, set); err == nil {
			standard = only.Name
		}
		for _, c := range cases {
			if c.Policy == "" {
				c.Policy = standard
			}
			p, known := set.Get(c.Policy)
			if !known {
				return usageError{fmt.Errorf("%s:%d: there is no policy %q; there are %s", args[0], c.Line, c.Policy, strings.Join(set.Names(), ", "))}
			}
			results.Cases = append(results.Cases, report.CaseResult{Case: c, Got: c.Of(p, now())})
		}
		if err := printAnswer(command, results, results.Text()); err != nil {
			return err
		}
		if failed := results.Failed(); failed > 0 {
			return errors.New(text.Count(failed, "case") + " failed")
		}
		return nil
	}
	return withJSON(command, "print one JSON object")
}
