package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

func newPolicies() *cobra.Command {
	command := &cobra.Command{
		Use:   "policies [NAME]",
		Short: "Show the retry policies, or one of them in full",
		Long: `Shows the policies that are known: the built-in ones, and those of the file that
RETRY_POLICIES_FILE or --file names. With a NAME it shows one in full: its
waits, its rules, and what is odd about it. It asks no broker.`,
		Example: `  worker policies
  worker policies tiss
  worker policies --file policies.yaml my-policy --json
  worker policies lint policies.yaml --outage 12h`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("policies takes one name, but got %q too", args[1])}
			}
			return nil
		},
	}
	file := command.Flags().String("file", "", "a policies file (default RETRY_POLICIES_FILE)")
	asJSON := command.Flags().Bool("json", false, "print JSON; of one policy also as a file states it")
	command.RunE = func(command *cobra.Command, args []string) error {
		set, err := knownPolicies(command.Context(), *file)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			list := summaries(set)
			return printAnswer(command, *asJSON, list, listText(list))
		}
		p, known := set.Get(args[0])
		if !known {
			return usageError{fmt.Errorf("there is no policy %q; there are %s", args[0], strings.Join(set.Names(), ", "))}
		}
		shown := inFull(set, p)
		return printAnswer(command, *asJSON, shown, shown.text(p))
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

// knownPolicies reads a file, or the one that the configuration names. A broken one is a mistake of whoever asks.
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

// policySummary is a policy in a list. Its JSON form is stable: names are added, never changed. Durations are ISO 8601.
type policySummary struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Origin      string `json:"origin"`
	Description string `json:"description,omitempty"`
	Source      string `json:"source,omitempty"`
	MaxRetries  int    `json:"maxRetries"`
	// The waits, and their sum; absent of a policy without retries.
	ShortestWait  isoDuration `json:"shortestWait,omitempty"`
	LongestWait   isoDuration `json:"longestWait,omitempty"`
	ShortestInAll isoDuration `json:"shortestInAll,omitempty"`
	LongestInAll  isoDuration `json:"longestInAll,omitempty"`
}

// isoDuration is a duration that JSON has as ISO 8601.
type isoDuration time.Duration

// MarshalText writes PT5M.
func (d isoDuration) MarshalText() ([]byte, error) {
	return []byte(contract.ISODuration(time.Duration(d))), nil
}

func summaries(set *policy.Set) []policySummary {
	list := []policySummary{}
	for p := range set.All() {
		list = append(list, summarise(set, p))
	}
	return list
}

func summarise(set *policy.Set, p *retry.Policy) policySummary {
	entry, _ := set.Entry(p.Name)
	s := policySummary{
		Name: p.Name, Version: p.Version(), Origin: set.Origin(p.Name),
		Description: entry.Description, Source: entry.Source, MaxRetries: p.MaxRetries,
	}
	for n := range p.MaxRetries {
		shortest, longest := p.Band(n)
		if n == 0 || shortest < time.Duration(s.ShortestWait) {
			s.ShortestWait = isoDuration(shortest)
		}
		s.LongestWait = max(s.LongestWait, isoDuration(longest))
	}
	shortest, longest := policy.Horizon(p)
	s.ShortestInAll, s.LongestInAll = isoDuration(shortest), isoDuration(longest)
	return s
}

// shownPolicy is one policy in full.
type shownPolicy struct {
	policySummary
	Schedule []policyWait     `json:"schedule"`
	Findings []policy.Finding `json:"findings"`
	// Policy is the policy as a file would state it: {"policies": [...]} around it is a policies file.
	Policy policy.Entry `json:"policy"`
}

// policyWait is one wait of a policy.
type policyWait struct {
	Retry         int         `json:"retry"`
	BeforeJitter  isoDuration `json:"beforeJitter"`
	Shortest      isoDuration `json:"shortest"`
	Longest       isoDuration `json:"longest"`
	TotalShortest isoDuration `json:"totalShortest"`
	TotalLongest  isoDuration `json:"totalLongest"`
}

func inFull(set *policy.Set, p *retry.Policy) shownPolicy {
	s := shownPolicy{policySummary: summarise(set, p), Schedule: []policyWait{}, Findings: set.Lint(p.Name, 0)}
	s.Policy, _ = set.Entry(p.Name)
	if s.Findings == nil {
		s.Findings = []policy.Finding{} // in JSON a list, even where it is empty
	}
	limited := *p
	for n := range p.MaxRetries {
		limited.MaxRetries = n + 1
		shortest, longest := p.Band(n)
		totalShortest, totalLongest := policy.Horizon(&limited)
		s.Schedule = append(s.Schedule, policyWait{
			n + 1, isoDuration(p.Delay(n)), isoDuration(shortest), isoDuration(longest), isoDuration(totalShortest), isoDuration(totalLongest),
		})
	}
	return s
}
