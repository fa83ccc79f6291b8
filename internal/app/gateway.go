package app

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/broker/transport/grpc"
	"hospital.example/analyze-retry/internal/broker/transport/rest"
	"hospital.example/analyze-retry/internal/claims/redrive"
	"hospital.example/analyze-retry/internal/config"
)

// callTimeout bounds a deployment and the sending of an order; a broker that starts its partitions takes
// seconds.
const callTimeout = 30 * time.Second

// Deploy puts the models on the broker, all in one deployment, and returns what became of them.
func Deploy(ctx context.Context, cfg config.Config, models []bpmn.Model) (_ []transport.Deployed, err error) {
	client, err := dial(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return client.Deploy(ctx, cfg.Tenant, models)
}

// dial prepares a connection. It does not wait for the gateway, so its only faults are those of the settings.
func dial(cfg config.Config) (transport.Client, error) {
	c := transport.Config{Cluster: cfg.Cluster}
	if c.Address().REST() {
		return rest.Dial(c)
	}
	return grpc.Dial(c)
}

// Sender prepares the connection by which orders reach the processes. It does not wait for the gateway. send
// hands an order to the process of a claim, if that waits for it at this moment, and does not learn whether
// one did: the worker records it. It is safe for concurrent use. end closes the connection.
func Sender(cfg config.Config) (
	send func(ctx context.Context, claimID string, order redrive.Order) error, end func() error, err error,
) {
	client, err := dial(cfg)
	if err != nil {
		return nil, nil, err
	}
	send = func(ctx context.Context, claimID string, order redrive.Order) error {
		variables, _ := json.Marshal(order) // they are texts
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		return transport.Publish(ctx, client, transport.Message{
			Name:           "redrive-claim", // which the models wait for, during a wait and a person's task
			CorrelationKey: claimID,
			ID:             order.ID,
			Variables:      variables,
			Tenant:         cfg.Tenant,
		})
	}
	return send, client.Close, nil
}
