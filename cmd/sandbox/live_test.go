package main

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
)

func TestOnlyOpenUserTasksAreListed(t *testing.T) {
	record := func(recordType, intent string, key int64) cluster.Record {
		return cluster.Record{
			RecordType: recordType, ValueType: "USER_TASK", Intent: intent, Key: key,
			Value: []byte(`{"elementId":"Task_ReviewClaim","candidateGroupsList":["billing","admin"],"processInstanceKey":7}`),
		}
	}
	tasks, err := openTasks([]cluster.Record{
		record("EVENT", "CREATING", 1),
		record("EVENT", "CREATED", 4),
		record("EVENT", "CREATED", 3),
		record("EVENT", "CREATED", 2),
		record("COMMAND", "COMPLETED", 3),
		record("EVENT", "COMPLETED", 2),
		record("EVENT", "CREATED", 5),
		record("EVENT", "CANCELED", 5),
	})
	check.Must(t, err)
	var out strings.Builder
	check.Must(t, printTasks(&out, tasks))
	check.Same(t, `KEY  TASK              OFFERED TO      PROCESS INSTANCE
3    Task_ReviewClaim  billing, admin  7
4    Task_ReviewClaim  billing, admin  7
`, out.String(), "the list")
}
