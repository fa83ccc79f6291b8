package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/test/suite"
)

// What all tests share: the worker's binary and the directory of its logs.
var binary, logs string

// lanes run two tests at a time. Most use the broker of their lane and move its clock; those that start one of their own count
// as busy.
var lanes = suite.NewLanes(2, func() (*broker, error) {
	return startBroker(context.Background(), devbroker.Options{Records: true})
})

func TestMain(m *testing.M) {
	os.Exit(suite.Run("e2e", func(dir string) (int, error) {
		binary, logs = filepath.Join(dir, "worker"), dir
		flag.Parse()
		if err := checkTransport(); err != nil {
			return 1, err
		}
		flags := []string{"-race"}
		if *answersFile != "" {
			flags = nil // the race detector takes several times the memory, which the picture shows
		}
		if err := suite.BuildWorker(binary, flags...); err != nil {
			return 1, err
		}
		code := m.Run()
		return code, errors.Join(lanes.Close(), findInLogs("panic", "DATA RACE"), goleak.Find())
	}))
}

// envTransport is how the workers under test reach the broker: grpc, which is the default, or rest.
const envTransport = "ZEEBE_TEST_TRANSPORT"

// checkTransport returns an error where the version under test does not serve the transport under test.
func checkTransport() error {
	transport, version := os.Getenv(envTransport), devbroker.VersionFromEnv()
	switch {
	case transport == "" || transport == "grpc":
		return nil
	case transport != "rest":
		return fmt.Errorf("%s is %q, want grpc or rest", envTransport, transport)
	case devbroker.InMemory(version) || strings.HasPrefix(version, "8.5."):
		return fmt.Errorf("%s is rest, but %s has no REST API for jobs: %s=8.6.0 has", envTransport, version, devbroker.EnvVersion)
	}
	return nil
}

// findInLogs fails where a worker of any test wrote one of the words.
func findInLogs(words ...string) error {
	files, err := filepath.Glob(filepath.Join(logs, "*.log"))
	for _, file := range files {
		text, failed := os.ReadFile(file)
		err = errors.Join(err, failed)
		for line := range strings.Lines(string(text)) {
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
				err = errors.Join(err, fmt.Errorf("a worker logged: %s", line))
			}
		}
	}
	return err
}
