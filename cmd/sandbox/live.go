package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/testing/devbroker"
)

func newTasks() *cobra.Command {
	return &cobra.Command{
		Use:   "tasks",
		Short: "List the user tasks that wait for a person",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			broker, err := running()
			if err != nil {
				return err
			}
			records, err := broker.Records(command.Context())
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

func newComplete() *cobra.Command {
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
			broker, err := running()
			if err != nil {
				return err
			}
			return broker.CompleteUserTask(command.Context(), key, variables)
		},
	}
}

// running returns the broker that `up` has started.
func running() (*devbroker.Broker, error) {
	s, err := load()
	if err != nil {
		return nil, err
	}
	broker := s.broker()
	if !broker.Alive() {
		return nil, errors.New("nothing is running: start it with `make up`")
	}
	return broker, nil
}

// userTask is a user task that waits for a person.
type userTask struct {
	Key                 int64 `json:"-"`
	ElementID           string
	CandidateGroupsList []string
	ProcessInstanceKey  int64
}

// openTasks returns the user tasks that have not ended, by their keys.
func openTasks(records []devbroker.Record) ([]userTask, error) {
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
		fmt.Fprintf(table, "%d\t%s\t%s\t%d\n", t.Key, t.ElementID, strings.Join(t.CandidateGroupsList, ", "), t.ProcessInstanceKey)
	}
	return table.Flush()
}
