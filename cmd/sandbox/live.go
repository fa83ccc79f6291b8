package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

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
