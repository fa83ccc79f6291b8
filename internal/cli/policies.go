package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/report"
)

func newPolicies() *cobra.Command {
	command := &cobra.Command{
		Use:   "policies [NAME]",
		Short: "Show the retry policies, or one of them in full",
		Long: `Shows the policies that are known: the built-in ones, and those of the file that
RETRY_POLICIES_FILE or --file names. With a NAME it shows one in full: its
waits, its rules, and the findings of lint. It asks no broker.`,
		Example: `  worker policies
  worker policies tiss
  worker policies --file policies.yaml my-policy --json
  worker policies lint policies.yaml --outage 12h`,
		Args: upToOneArg("name"),
	}
	file := command.Flags().String("file", "", "a policies file (default RETRY_POLICIES_FILE)")
	asJSON := command.Flags().Bool("json", false, "print JSON; of one policy also as a file states it")
	command.RunE = func(command *cobra.Command, args []string) error {
		set, err := knownPolicies(command.Context(), *file)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			list := report.Policies(set)
			return printAnswer(command, *asJSON, list, report.PoliciesText(list))
		}
		p, known := set.Get(args[0])
		if !known {
			return usageError{fmt.Errorf("there is no policy %q; there are %s", args[0], strings.Join(set.Names(), ", "))}
		}
		shown := report.PolicyInFull(set, p)
		return printAnswer(command, *asJSON, shown, shown.Text())
	}
	command.AddCommand(newPoliciesLint(), newPoliciesSchema())
	return command
}

func newPoliciesSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a policies file, for editors",
		Long: `Prints the JSON Schema (draft 2020-12) of a policies file. An editor with a YAML
language server completes and checks a file whose first line names it:

  # yaml-language-server: $schema=policies.schema.json`,
		Example: `  worker policies schema > policies.schema.json`,
		Args:    noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := command.OutOrStdout().Write(policy.Schema)
			return err
		},
	}
}

// knownPolicies reads a file, or the one that the configuration names. A broken one is a usage error.
func knownPolicies(ctx context.Context, file string) (*policy.Set, error) {
	return bounded(ctx, func() (*policy.Set, error) { return readPolicies(file) })
}

func readPolicies(file string) (*policy.Set, error) {
	if file == "" {
		cfg, err := config.Load(config.Process())
		if err != nil {
			return nil, err
		}
		file = cfg.PoliciesFile
	}
	store, err := policy.Open(file)
	if err != nil {
		return nil, usageError{err}
	}
	return store.Current(), nil
}
