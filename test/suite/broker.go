package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/internal/testing/devbroker"
)

// Broker is a real broker with a connection to its gateway, which tests use as the hospital's other workers and its
// operators would.
type Broker struct {
	*devbroker.Broker
	pb.GatewayClient
	Conn *grpc.ClientConn
}

// StartBroker starts a broker of the version under test for a suite of this name, and puts the models of these files on
// it. Whoever starts a broker has to call [Broker.Close].
func StartBroker(ctx context.Context, name string, o devbroker.Options, models ...string) (*Broker, error) {
	ctx, cancel := context.WithTimeout(ctx, SetupTimeout)
	defer cancel()
	o.Version = devbroker.VersionFromEnv()
	o.Progress = func(line string) { fmt.Fprintf(os.Stderr, "%s: %s\n", name, line) }
	running, err := devbroker.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	b := &Broker{Broker: running}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64 << 20)),
	}
	if o.Credentials != nil {
		options = append(options, grpc.WithPerRPCCredentials(o.Credentials))
	}
	b.Conn, err = grpc.NewClient(b.Address(), options...)
	if err == nil {
		b.GatewayClient = pb.NewGatewayClient(b.Conn)
		err = b.Deploy(ctx, models...)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Deploy puts these files, models and forms, on the broker in one deployment, if there are any.
func (b *Broker) Deploy(ctx context.Context, files ...string) error {
	if len(files) == 0 {
		return nil
	}
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

// Close ends the broker for good. It may be called when a test is over, so it takes no context from it.
func (b *Broker) Close() error {
	ctx, cancel := AfterTest()
	defer cancel()
	var err error
	if b.Conn != nil {
		err = b.Conn.Close()
	}
	return errors.Join(err, b.Stop(ctx))
}
