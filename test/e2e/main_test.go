// Package e2e holds the tests of the whole: the worker's binary, the bundled models and the engine that stands in for a
// Camunda cluster, or a cluster that the environment names (cluster.FromEnv).
//
// What the tests claim about an outcome is what the cluster holds: the jobs that follow, the records it exported, its
// variables, never what the worker says about itself.
//
// Tests run next to each other, each on an engine of its own, whose clock it moves.
package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/test/suite"
)

// What all tests share: the worker's binary and the directory of its logs.
var binary, logs string

func TestMain(m *testing.M) {
	os.Exit(suite.Run("e2e", 8, func(worker string) (int, error) {
		binary, logs = worker, filepath.Dir(worker)
		code := m.Run()
		return code, goleak.Find()
	}))
}
