package e2e

import (
	"context"
	"errors"
	"fmt"

	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/test/suite"
)

type broker = suite.Broker

// startBroker starts a broker of the version under test and puts the models on it: those of the tests directly, the
// bundled ones by the worker's own command.
func startBroker(ctx context.Context, o devbroker.Options) (*broker, error) {
	b, err := suite.StartBroker(ctx, "e2e", o, "testdata/one-task.bpmn", "testdata/one-outcome.bpmn", "testdata/witness.bpmn")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, suite.SetupTimeout)
	defer cancel()
	if out, err := workerCommand(ctx, gatewayOf(b), "deploy").CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("worker deploy: %w\n%s", err, out), b.Close())
	}
	return b, nil
}
