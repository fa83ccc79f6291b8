package cli

import (
	"cmp"
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
		findings := text.Findings{} // in JSON a list, even where it is empty
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
			if f, differs := report.CaseFinding(args[0], c, c.Of(p, now())); differs {
				findings = append(findings, f)
			}
		}
		none := text.Count(len(cases), "case") + ", 0 failed."
		return cmp.Or(printAnswer(command, findings, findings.Text(none)), verdict("cases", findings))
	}
	return withJSON(command, "print a JSON array of findings")
}
