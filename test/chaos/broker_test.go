package chaos

import (
	"context"
	"sync"
	"testing"

	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/test/suite"
)

// broker is a real broker and a connection to its gateway, for whoever starts processes and looks at them.
type broker = suite.Broker

// The models: many jobs of one process instance, and one job with an end for each way it can go.
const (
	manyTasks = "ChaosFlood"
	oneTask   = "OneTask"
)

var models = []string{"testdata/flood.bpmn", "../e2e/testdata/one-task.bpmn"}

func startBroker(settings ...string) (*broker, error) {
	return suite.StartBroker(context.Background(), "chaos", devbroker.Options{Records: true, Settings: settings}, models...)
}

// sharedBroker starts the broker of those rows that do it no harm, once.
var sharedBroker = sync.OnceValues(func() (*broker, error) {
	b, err := startBroker()
	shared = b
	return b, err
})

var shared *broker

func stopShared() error {
	if shared == nil {
		return nil
	}
	return shared.Close()
}

// brokerFor returns the shared broker, or one for this row alone.
func brokerFor(t *testing.T, s setup) *broker {
	t.Helper()
	if !s.ownBroker && s.brokerSettings == nil {
		b, err := sharedBroker()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b, err := startBroker(s.brokerSettings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
