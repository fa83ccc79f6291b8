package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/testing/cluster"
)

func newTasks(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "tasks",
		Short: "List the user tasks that wait for a person",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			engine, err := running(*dir)
			if err != nil {
				return err
			}
			records, err := engine.Records()
			if err != nil {
				return err
			}
			tasks, err := openTasks(records)
			if err != nil {
				return err
			}
			return printTasks(command.OutOrStdout(), tasks)
		},
	}
}

func newComplete(dir *string) *cobra.Command {
	var key int64
	var variables map[string]any
	return &cobra.Command{
		Use:     "complete KEY VARIABLES",
		Short:   "Complete a user task, as a person does",
		Example: `  sandbox complete 2251799813685491 '{"manualDecision":"RESUBMIT","justification":"dados conferidos"}'`,
		Args: func(command *cobra.Command, args []string) (err error) {
			if err := cobra.ExactArgs(2)(command, args); err != nil {
				return err
			}
			if key, err = strconv.ParseInt(args[0], 10, 64); err != nil {
				return fmt.Errorf("%q is no key of a user task: see `sandbox tasks`", args[0])
			}
			if err := json.Unmarshal([]byte(args[1]), &variables); err != nil {
				return fmt.Errorf("the variables are no JSON object: %w", err)
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			engine, err := running(*dir)
			if err != nil {
				return err
			}
			return engine.CompleteUserTask(command.Context(), key, variables)
		},
	}
}

func newSkip(dir *string) *cobra.Command {
	var by time.Duration
	return &cobra.Command{
		Use:     "skip DURATION",
		Short:   "Move the engine's clock forward, so that timers fire",
		Example: "  sandbox skip 10m\n  sandbox skip 1h30m",
		Args: func(command *cobra.Command, args []string) (err error) {
			if err := cobra.ExactArgs(1)(command, args); err != nil {
				return err
			}
			if by, err = time.ParseDuration(args[0]); err != nil || by < time.Millisecond {
				return fmt.Errorf("%q is no time to skip: write e.g. 90s, 10m or 1h30m", args[0])
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			engine, err := running(*dir)
			if err != nil {
				return err
			}
			now, err := engine.Advance(command.Context(), by)
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "The engine's clock went %s forward and shows %s.\n",
				by, now.Format(time.RFC3339))
			return nil
		},
	}
}

// userTask is a user task that waits for a person.
type userTask struct {
	Key                 int64 `json:"-"`
	ElementID           string
	CandidateGroupsList []string
	ProcessInstanceKey  int64
}

// openTasks returns the user tasks that have not ended, by their keys.
func openTasks(records []cluster.Record) ([]userTask, error) {
	open := map[int64]userTask{}
	for _, r := range records {
		if r.RecordType != "EVENT" || r.ValueType != "USER_TASK" {
			continue
		}
		switch r.Intent {
		case "CREATED":
			task := userTask{Key: r.Key}
			if err := json.Unmarshal(r.Value, &task); err != nil {
				return nil, fmt.Errorf("read the record at position %d: %w", r.Position, err)
			}
			open[r.Key] = task
		case "COMPLETED", "CANCELED":
			delete(open, r.Key)
		}
	}
	return slices.SortedFunc(maps.Values(open), func(a, b userTask) int { return int(a.Key - b.Key) }), nil
}

func printTasks(out io.Writer, tasks []userTask) error {
	if len(tasks) == 0 {
		fmt.Fprintln(out, "No user task waits.")
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tTASK\tOFFERED TO\tPROCESS INSTANCE")
	for _, t := range tasks {
		groups := strings.Join(t.CandidateGroupsList, ", ")
		fmt.Fprintf(table, "%d\t%s\t%s\t%d\n", t.Key, t.ElementID, groups, t.ProcessInstanceKey)
	}
	return table.Flush()
}
