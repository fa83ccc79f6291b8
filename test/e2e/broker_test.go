package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"

	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/test/suite"
)

type broker = suite.Broker

// lanes run tests next to each other, each lane on an engine of its own. Most tests move its clock. A cluster
// that the environment names is the one lane that there is.
var lanes = suite.NewLanes(laneCount(), sharedBroker)

func laneCount() int {
	if os.Getenv(cluster.EnvAddress) != "" {
		return 1
	}
	return 8
}

// sharedBroker connects to the cluster that the environment names, or starts an engine.
func sharedBroker() (*broker, error) {
	c, err := cluster.FromEnv()
	if c != nil || err != nil {
		return withModels(c, err)
	}
	return withModels(cluster.Start(cluster.Options{}))
}

// withModels deploys the models: those of the tests directly, the bundled ones by the worker's own command.
func withModels(c *cluster.Cluster, err error) (*broker, error) {
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), suite.SetupTimeout)
	defer cancel()
	b, err := suite.Connect(ctx, c, "testdata/one-task.bpmn")
	if err != nil {
		return nil, err
	}
	if out, err := workerCommand(ctx, b.Address(), "deploy").CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("worker deploy: %w\n%s", err, out), b.Close())
	}
	return b, nil
}
