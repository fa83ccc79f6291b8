package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/internal/devbroker"
)

// broker is a real broker with a connection to its gateway, which every test uses as the hospital's other workers and
// its operators would.
type broker struct {
	*devbroker.Broker
	pb.GatewayClient
	conn *grpc.ClientConn
}

// startBroker starts a broker of the version under test and puts the models on it: the bundled ones by the worker's own
// command, those of the tests directly.
func startBroker(ctx context.Context, o devbroker.Options) (*broker, error) {
	o.Version = devbroker.VersionFromEnv()
	o.Progress = func(line string) { fmt.Fprintln(os.Stderr, "e2e:", line) }
	running, err := devbroker.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	b := &broker{Broker: running}
	if err := b.connect(ctx); err != nil {
		return nil, errors.Join(err, b.stop())
	}
	return b, nil
}

func (b *broker) connect(ctx context.Context) (err error) {
	b.conn, err = grpc.NewClient(b.Address(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		return err
	}
	b.GatewayClient = pb.NewGatewayClient(b.conn)
	if out, err := workerCommand(ctx, b.Address(), "deploy").CombinedOutput(); err != nil {
		return fmt.Errorf("worker deploy: %w\n%s", err, out)
	}
	return b.deploy(ctx, "testdata/one-task.bpmn", "testdata/one-outcome.bpmn", "testdata/witness.bpmn")
}

// deploy puts the models of these files on the broker.
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

// stop ends the broker for good. It may be called when a test is over, so it takes no context from it.
func (b *broker) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if b.conn != nil {
		err = b.conn.Close()
	}
	return errors.Join(err, b.Broker.Stop(ctx))
}
