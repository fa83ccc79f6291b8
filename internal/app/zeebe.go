package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/zeebe"
)

// deployTimeout bounds a deployment; a broker that starts its partitions can take seconds.
const deployTimeout = 30 * time.Second

// Deploy puts the models on the broker, all in one deployment, and returns what became of them.
func Deploy(ctx context.Context, cfg config.Config, models []bpmn.Model) (_ []zeebe.Deployed, err error) {
	client, err := dial(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, deployTimeout)
	defer cancel()
	resources := make([]zeebe.Resource, len(models))
	for i, m := range models {
		resources[i] = zeebe.Resource{Name: m.Name, Content: m.Content}
	}
	deployed, err := client.Deploy(ctx, resources)
	if status.Code(err) == codes.Unavailable {
		return nil, fmt.Errorf("%w\nthe broker is not there or not ready yet: try again, or check ZEEBE_ADDRESS=%s and "+
			"ZEEBE_INSECURE_CONNECTION=%t", err, cfg.ZeebeAddress, cfg.ZeebeInsecure)
	}
	return deployed, err
}

// dial prepares a connection. It does not wait for the gateway, so its only faults are those of the configuration, which
// come one a line.
func dial(cfg config.Config) (*zeebe.Client, error) {
	c := zeebe.Config{
		Address:           cfg.ZeebeAddress,
		Plaintext:         cfg.ZeebeInsecure,
		CACertPath:        cfg.ZeebeCACertificate,
		ClientCertPath:    cfg.ZeebeClientCertificate,
		ClientKeyPath:     cfg.ZeebeClientKey,
		OverrideAuthority: cfg.ZeebeOverrideAuthority,
	}
	if cfg.ZeebeClientID != "" {
		c.OAuth = &zeebe.OAuthConfig{
			ClientID:     cfg.ZeebeClientID,
			ClientSecret: string(cfg.ZeebeClientSecret),
			TokenURL:     cfg.ZeebeAuthorizationURL,
			Audience:     cfg.ZeebeTokenAudience,
			Scope:        cfg.ZeebeTokenScope,
		}
	}
	client, err := zeebe.Dial(c)
	if err != nil {
		return nil, config.FaultsError(strings.Split(err.Error(), "\n"))
	}
	return client, nil
}
