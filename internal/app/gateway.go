package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"golang.org/x/oauth2/clientcredentials"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/redrive"
	"hospital.example/analyze-retry/internal/transport"
	"hospital.example/analyze-retry/internal/transport/grpc"
	"hospital.example/analyze-retry/internal/transport/rest"
)

// deployTimeout bounds a deployment; a broker that starts its partitions can take seconds.
const deployTimeout = 30 * time.Second

// Deploy puts the models on the broker, all in one deployment, and returns what became of them.
func Deploy(ctx context.Context, cfg config.Config, models []bpmn.Model) (_ []transport.Deployed, err error) {
	client, err := dial(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, deployTimeout)
	defer cancel()
	resources := make([]transport.Resource, len(models))
	for i, m := range models {
		resources[i] = transport.Resource{Name: m.Name, Content: m.Content}
	}
	deployed, err := client.Deploy(ctx, cfg.Tenant, resources)
	return deployed, withAdvice(cfg, err)
}

// dial prepares a connection. It does not wait for the gateway, so its only faults are those of the configuration, which
// come one a line.
func dial(cfg config.Config) (client transport.Client, err error) {
	if cfg.Address().REST() {
		client, err = rest.Dial(connection(cfg))
	} else {
		client, err = grpc.Dial(connection(cfg))
	}
	if err != nil {
		return nil, faultsOf("", err)
	}
	return client, nil
}

// connection returns how the gateway is reached.
func connection(cfg config.Config) transport.Config {
	address := cfg.Address()
	c := transport.Config{
		Scheme:            address.Scheme,
		Address:           address.Host,
		Path:              address.Path,
		CACertPath:        cfg.ZeebeCACertificate,
		ClientCertPath:    cfg.ZeebeClientCertificate,
		ClientKeyPath:     cfg.ZeebeClientKey,
		OverrideAuthority: cfg.ZeebeOverrideAuthority,
	}
	switch cfg.AuthStrategy() {
	case config.AuthOIDC:
		c.OAuth = &clientcredentials.Config{
			ClientID:     cfg.ZeebeClientID,
			ClientSecret: string(cfg.ZeebeClientSecret),
			TokenURL:     string(cfg.ZeebeAuthorizationURL),
		}
		if cfg.ZeebeTokenScope != "" {
			c.OAuth.Scopes = []string{cfg.ZeebeTokenScope}
		}
		if cfg.ZeebeTokenAudience != "" {
			c.OAuth.EndpointParams = url.Values{"audience": {cfg.ZeebeTokenAudience}}
		}
	case config.AuthBasic:
		c.Basic = &transport.Basic{User: cfg.BasicUser, Password: string(cfg.BasicPassword)}
	case config.AuthNone:
	}
	return c
}

// withAdvice adds what to check to the error of a gateway that cannot be reached.
func withAdvice(cfg config.Config, err error) error {
	if status.Code(err) != codes.Unavailable {
		return err
	}
	return fmt.Errorf("%w\nthe broker is not there or not ready yet: try again, or check ZEEBE_ADDRESS, which is read as %s, %s",
		err, cfg.Address(), cfg.Address().Transport())
}

const (
	// redriveMessage is the message that the models wait for during the wait of a retry and during a person's task.
	redriveMessage = "redrive-claim"
	// redriveTimeout bounds the sending of one message.
	redriveTimeout = 10 * time.Second
)

// Redriver sends orders to the processes. It is safe for concurrent use.
type Redriver struct {
	client transport.Client
	cfg    config.Config
}

// NewRedriver prepares the connection to the gateway. It does not wait for it.
func NewRedriver(cfg config.Config) (*Redriver, error) {
	client, err := dial(cfg)
	if err != nil {
		return nil, err
	}
	return &Redriver{client, cfg}, nil
}

// Close ends the connection.
func (r *Redriver) Close() error { return r.client.Close() }

// Send sends the order to the process of the claim, if that waits for it at this moment. It does not learn whether one did;
// the worker records it.
func (r *Redriver) Send(ctx context.Context, claimID string, order redrive.Order) error {
	variables, err := json.Marshal(order)
	if err != nil {
		return err // cannot happen: they are texts
	}
	ctx, cancel := context.WithTimeout(ctx, redriveTimeout)
	defer cancel()
	message := transport.Message{
		Name: redriveMessage, CorrelationKey: claimID, ID: order.ID, Variables: variables, Tenant: r.cfg.Tenant,
	}
	return withAdvice(r.cfg, transport.Publish(ctx, r.client, message))
}
