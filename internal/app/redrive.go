package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/zeebe"
)

const (
	// redriveMessage is the message that the models wait for beside the wait of a retry and beside a person's task.
	redriveMessage = "redrive-claim"
	// redriveTimeout bounds the sending of one message.
	redriveTimeout = 10 * time.Second
)

// Redrive is a person's order to send a claim again now.
type Redrive struct {
	// ID is the order's own, a UUID, by which its record is found in the audit trail.
	ID string `json:"redriveId"`
	// Justification says why, Operator who ordered it. Both become process variables, so that they hold no personal data.
	Justification string `json:"justification"`
	Operator      string `json:"operator"`
}

// Redriver sends such orders to the processes. It is safe for concurrent use.
type Redriver struct {
	client *zeebe.Client
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

// Send hands the order to the process of the claim, if that waits for it at this moment. It cannot tell whether one did:
// the worker records it.
func (r *Redriver) Send(ctx context.Context, claimID string, order Redrive) error {
	variables, err := json.Marshal(order)
	if err != nil {
		return err // cannot happen: they are texts
	}
	ctx, cancel := context.WithTimeout(ctx, redriveTimeout)
	defer cancel()
	err = r.client.PublishMessage(ctx, zeebe.Message{
		Name: redriveMessage, CorrelationKey: claimID, ID: order.ID, Variables: string(variables),
	})
	if status.Code(err) == codes.Unavailable {
		return fmt.Errorf("%w\nthe broker is not there or not ready: try again, or check ZEEBE_ADDRESS=%s and "+
			"ZEEBE_INSECURE_CONNECTION=%t", err, r.cfg.ZeebeAddress, r.cfg.ZeebeInsecure)
	}
	return err
}
