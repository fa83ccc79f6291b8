package chaos

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/test/suite"
)

// broker is an engine and a connection to its gateway, for rows that start processes and look at them.
type broker = suite.Broker

// The models: many jobs of one process instance, and one job with an end for each way it can go.
const (
	manyTasks = "ChaosFlood"
	oneTask   = "OneTask"
)

// slowBroker is a pause before each command, as long as a broker needs that syncs it to a disk: what makes
// locks run out under load.
const slowBroker = "pace=4ms"

// lanes run rows next to each other: most of the time a row waits. Each has a broker of its own.
var lanes = suite.NewLanes(5, nil)

// startBroker starts a broker with these faults for one row.
func startBroker(t *testing.T, faults string) *broker {
	t.Helper()
	b, err := suite.StartBroker(t.Context(), cluster.Options{Faults: faults}, "testdata/flood.bpmn", "../e2e/testdata/one-task.bpmn")
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, b.Close()) })
	return b
}
