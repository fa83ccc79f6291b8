package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/internal/devbroker"
)

// broker is a real broker and a connection to its gateway, for whoever starts processes and looks at them.
type broker struct {
	*devbroker.Broker
	pb.GatewayClient
	conn *grpc.ClientConn
}

// The models: many jobs of one process instance, and one job with an end for each way it can go.
const (
	manyTasks = "ChaosFlood"
	oneTask   = "OneTask"
)

var models = []string{"testdata/flood.bpmn", "../e2e/testdata/one-task.bpmn"}

func startBroker() (*broker, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute) // a first run fetches the broker
	defer cancel()
	running, err := devbroker.Start(ctx, devbroker.Options{
		Version: devbroker.VersionFromEnv(), Records: true,
		Progress: func(line string) { fmt.Fprintln(os.Stderr, "chaos:", line) },
	})
	if err != nil {
		return nil, err
	}
	b := &broker{Broker: running}
	if b.conn, err = grpc.NewClient(b.Address(), grpc.WithTransportCredentials(insecure.NewCredentials())); err == nil {
		b.GatewayClient = pb.NewGatewayClient(b.conn)
		err = b.deploy(ctx, models...)
	}
	if err != nil {
		return nil, errors.Join(err, b.stop())
	}
	return b, nil
}

func (b *broker) deploy(ctx context.Context, files ...string) error {
	request := &pb.DeployResourceRequest{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		request.Resources = append(request.Resources, &pb.Resource{Name: filepath.Base(file), Content: content})
	}
	_, err := b.DeployResource(ctx, request)
	return err
}

func (b *broker) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if b.conn != nil {
		err = b.conn.Close()
	}
	return errors.Join(err, b.Broker.Stop(ctx))
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
	return shared.stop()
}

// brokerFor returns the shared broker, or one for this row alone.
func brokerFor(t *testing.T, own bool) *broker {
	t.Helper()
	if !own {
		b, err := sharedBroker()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b, err := startBroker()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
	return b
}
