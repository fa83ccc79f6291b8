// Package transport is the door to a Camunda 8 cluster: what the worker needs of one, whichever protocol
// carries it. The protocols are its folders grpc and rest; what they share, credentials and TLS, is here.
package transport

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/ops/outage"
)

// MaxAnswer is the size in bytes up to which an answer is read. It is twice what a gateway sends by default,
// because a batch that is refused here stays locked unnoticed, and no more, because it is held in memory.
const MaxAnswer = 8 << 20

// Client is a connection to a cluster. It is safe for concurrent use.
//
// The errors of every protocol carry one of gRPC's status codes, see [Code], because Zeebe's own errors are
// defined by them: NotFound for a job that is not there any more, ResourceExhausted for a broker that is too
// busy and has done nothing, and so on.
type Client interface {
	// Activate polls once for jobs and passes them on as they come, also those of a poll that fails later. It
	// returns when the poll is over.
	Activate(ctx context.Context, p Poll, received func([]job.Job)) error
	// Answer sends the answer of a job once. One of no kind is InvalidArgument.
	Answer(ctx context.Context, j job.Job, a job.Answer) error
	// ExtendLock makes the lock of a job last this long from now, whichever worker holds it. It fails where
	// no worker holds the job.
	ExtendLock(ctx context.Context, j job.Job, lock time.Duration) error
	// Topology returns the state of the cluster.
	Topology(ctx context.Context) (Topology, error)
	// Deploy deploys models and forms together, all of them or none, for a tenant.
	Deploy(ctx context.Context, tenant string, models []bpmn.Model) ([]Deployed, error)
	// PublishMessage delivers a message to the process instances that wait for it at this moment; if none
	// does, it is lost without an error.
	PublishMessage(ctx context.Context, m Message) error
	// Close ends the connection, when all calls are over.
	Close() error
}

// Code returns the status code of a call's error as one of those that gRPC defines: what a gateway makes up
// beyond them is Unknown, so that logs and metrics keep to a closed set.
func Code(err error) codes.Code {
	if code := status.Code(err); code <= codes.Unauthenticated {
		return code
	}
	return codes.Unknown
}

// ErrLost is among the errors of a poll for which the gateway has locked jobs that it cannot deliver, because
// a variable of one is nested too deep. A gateway may also leave such a poll without an answer.
var ErrLost = errors.New("the gateway cannot deliver the jobs of this poll")

// Poll requests jobs. Its JSON is that of the REST API, without times and tenant.
type Poll struct {
	JobType string `json:"type"`
	// Worker is the worker's name in the broker's records.
	Worker string `json:"worker"`
	// Max is the highest number of jobs, at least 1.
	Max int `json:"maxJobsToActivate"`
	// Fetch names the variables to send with the jobs; empty for all of them.
	Fetch []string `json:"fetchVariable,omitempty"`
	// Wait is how long the gateway may wait for a first job; negative for not at all.
	Wait time.Duration `json:"-"`
	// JobTimeout is how long the broker locks the jobs for this worker.
	JobTimeout time.Duration `json:"-"`
	// Tenant is the one whose jobs are asked for.
	Tenant string `json:"-"`
}

// Topology is the state of a cluster as its gateway knows it.
type Topology struct {
	// Version is that of the gateway, for example 8.9.3; empty where it does not name one.
	Version string
	// Partitions is how many partitions the cluster is set up with, Led how many have a healthy leader.
	Partitions, Led int
}

// Healthy reports whether every partition has a healthy leader, so that jobs of all of them can be worked.
func (t Topology) Healthy() bool { return t.Partitions > 0 && t.Led == t.Partitions }

// Deployed is one process definition or form that a deployment created, or found unchanged. Its JSON is what
// worker deploy prints, and is stable.
type Deployed struct {
	// ID is the id of the process or of the form.
	ID string `json:"id"`
	// Version counts from 1 and stays as it was when the resource did not change.
	Version int32 `json:"version"`
	// Key identifies this version of the definition.
	Key int64 `json:"key"`
	// Resource is the name of the file it came from.
	Resource string `json:"resource"`
}

// Message is something that happened outside of the processes. Its JSON is that of the REST API.
type Message struct {
	// Name and CorrelationKey identify the process instances that the message is for.
	Name           string `json:"name"`
	CorrelationKey string `json:"correlationKey"`
	// ID makes a message that is sent twice count once while it is kept; empty for none.
	ID string `json:"messageId,omitempty"`
	// Variables is a JSON object that the process gets.
	Variables json.RawMessage `json:"variables,omitempty"`
	// Tenant is the one whose process instances are meant.
	Tenant string `json:"tenantId,omitempty"`
}

// Publish publishes a message. It tries again until ctx ends while the gateway is too busy, and after no
// other failure, because the message may have been delivered.
func Publish(ctx context.Context, c Client, m Message) error {
	backoff := outage.Backoff{Min: 10 * time.Millisecond, Max: time.Second}
	for {
		err := c.PublishMessage(ctx, m)
		if err == nil {
			return nil
		}
		if status.Code(err) != codes.ResourceExhausted || ctx.Err() != nil {
			return err
		}
		outage.Sleep(ctx, backoff.Next())
	}
}
