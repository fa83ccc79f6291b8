package e2e

import (
	"fmt"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/test/suite"
)

type broker = suite.Broker

// newBroker connects to the cluster that the environment names, one test at a time, or starts an engine for the test. The
// models are there: those of the tests are deployed directly, the bundled ones by the worker's own command.
func newBroker(t *testing.T) *broker {
	t.Helper()
	c, err := cluster.FromEnv()
	if c == nil && err == nil {
		t.Parallel()
		c, err = cluster.Start(cluster.Options{})
	}
	check.Must(t, err)
	b, err := suite.Connect(t.Context(), c, "testdata/one-task.bpmn")
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, b.Close()) })
	if out, err := workerCommand(t.Context(), b.Address(), "deploy").CombinedOutput(); err != nil {
		check.Must(t, fmt.Errorf("worker deploy: %w\n%s", err, out))
	}
	return b
}
