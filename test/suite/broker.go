package suite

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/internal/testing/cluster"
)

// Broker is a cluster with a connection to its gateway, which tests use as the hospital's other workers and
// its operators would.
type Broker struct {
	*cluster.Cluster
	pb.GatewayClient
	Conn *grpc.ClientConn
}

// StartBroker starts an engine in this process and deploys the models of these files. The caller has to call
// [Broker.Close].
func StartBroker(ctx context.Context, o cluster.Options, models ...string) (*Broker, error) {
	c, err := cluster.Start(o)
	if err != nil {
		return nil, err
	}
	return Connect(ctx, c, models...)
}

// Connect connects to a cluster, which becomes the broker's, and deploys the models of these files. The
// caller has to call [Broker.Close].
func Connect(ctx context.Context, c *cluster.Cluster, models ...string) (*Broker, error) {
	ctx, cancel := context.WithTimeout(ctx, SetupTimeout)
	defer cancel()
	conn, err := grpc.NewClient(c.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	b := &Broker{Cluster: c, GatewayClient: pb.NewGatewayClient(conn), Conn: conn}
	if err := b.Deploy(ctx, models...); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Deploy deploys these files, models and forms, all or none.
func (b *Broker) Deploy(ctx context.Context, files ...string) error {
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

// Close closes the connection and stops the cluster.
func (b *Broker) Close() error { return errors.Join(b.Conn.Close(), b.Stop()) }
